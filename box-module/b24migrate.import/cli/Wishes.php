<?php

declare(strict_types=1);

namespace B24migrate\Import\Cli;

PHP_SAPI === 'cli' || exit;

/** What the command line asks for. */
final class Wishes
{
    public bool $createWebhook = false;
    public bool $uninstall = false;
    public bool $dropMap = false;
    public bool $help = false;
    public int $user = 1;
    public ?string $documentRoot = null;
    /** @var ?list<string> null: as it is */
    public ?array $allowActivities = null;

    /**
     * @param list<string> $words without the name of the script
     * @throws \InvalidArgumentException with one sentence
     */
    public static function of(array $words): self
    {
        $wishes = new self();
        while (($word = array_shift($words)) !== null) {
            match ($word) {
                '--create-webhook' => $wishes->createWebhook = true,
                '--uninstall' => $wishes->uninstall = true,
                '--drop-map' => $wishes->dropMap = true,
                '--help', '-h' => $wishes->help = true,
                '--user' => $wishes->user = self::number(array_shift($words)),
                '--allow-activities' => $wishes->allowActivities = self::names(array_shift($words)),
                '--document-root' => $wishes->documentRoot = self::folder(array_shift($words)),
                default => throw new \InvalidArgumentException("There is no argument $word; try --help."),
            };
        }
        if ($wishes->uninstall && $wishes->createWebhook) {
            throw new \InvalidArgumentException('A webhook cannot be made for a module that is uninstalled.');
        }
        if ($wishes->uninstall && $wishes->allowActivities !== null) {
            throw new \InvalidArgumentException('--allow-activities does not go with --uninstall.');
        }
        if ($wishes->dropMap && !$wishes->uninstall) {
            throw new \InvalidArgumentException('--drop-map goes with --uninstall.');
        }
        return $wishes;
    }

    private static function number(?string $word): int
    {
        if ($word === null || !ctype_digit($word) || (int)$word < 1) {
            throw new \InvalidArgumentException('--user wants the number of a user.');
        }
        return (int)$word;
    }

    /** @return list<string> */
    private static function names(?string $word): array
    {
        if ($word === null || preg_match('/^(\w+(,\w+)*)?$/D', $word) !== 1) {
            throw new \InvalidArgumentException(
                '--allow-activities wants names of activities with commas between, or "" for none.'
            );
        }
        return $word === '' ? [] : explode(',', $word);
    }

    private static function folder(?string $word): string
    {
        if ($word === null || !is_file(rtrim($word, '/') . '/bitrix/modules/main/include/prolog_before.php')) {
            throw new \InvalidArgumentException('--document-root wants the folder of the site, in which bitrix lies.');
        }
        // the kernel works in other folders than the one this was told in
        return (string)realpath($word);
    }
}
