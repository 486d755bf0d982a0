<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, ItemFault, ListValues, Stream};
use B24migrate\Import\Port\Box;

defined('B_PROLOG_INCLUDED') || exit;

/** `import.<entity>.fields`: makes custom fields or completes their list values; doing it twice changes nothing. */
final class Fields
{
    private function __construct(
        private readonly Box $box,
        private readonly Stream $stream,
        private readonly ?string $type
    ) {
    }

    public static function answer(Box $box, Stream $stream, Arguments $body): array
    {
        $type = $body->raw('type');
        if ($type !== null && ($stream->typedBy === null || !is_string($type))) {
            throw CallFault::malformed('type must be the id of a smart process, for the stream of their items only');
        }
        $wishes = $body->objects('fields');
        foreach ($wishes as $wish) {
            self::validate($wish);
        }
        return ['fields' => array_map((new self($box, $stream, $type))->createField(...), $wishes)];
    }

    private static function validate(Arguments $wish): void
    {
        $wish->text('code');
        $wish->text('type');
        $wish->flag('multiple');
        foreach (self::options($wish) as $option) {
            $option->text('id');
            $option->text('value');
        }
    }

    private static function options(Arguments $wish): array
    {
        return $wish->raw('options') === null ? [] : $wish->objects('options');
    }

    private function createField(Arguments $wish): array
    {
        $code = $wish->text('code');
        try {
            $work = fn () => $this->declare($wish, $code);
            return ['code' => $code] + $this->box->guard()->withLock("fields:{$this->stream->name}:$this->type", $work);
        } catch (\Throwable $any) {
            $fault = ItemFault::of($any);
            $error = ['code' => $fault->fault, 'message' => $fault->getMessage()];
        }
        return ['code' => $code, 'target' => null, 'status' => 'failed', 'options' => (object)[], 'error' => $error];
    }

    private function declare(Arguments $wish, string $code): array
    {
        $this->mustBePossible($wish, $code);
        $custom = $this->box->customFields();
        $target = $custom->code($this->stream->name, $this->type, $code);
        if ($this->stream->builtin($target) !== null) {
            return ['target' => $target, 'status' => 'exists', 'options' => (object)[], 'error' => null];
        }
        $found = $custom->of($this->stream->name, $this->type)[$target] ?? null;
        $type = $wish->text('type');
        if ($found !== null && $found['type'] !== $type) {
            $message = "$target exists with the type {$found['type']}, not $type";
            throw new ItemFault('TYPE_MISMATCH', 'type', $message);
        }
        if ($found === null) {
            $target = $custom->create($this->stream->name, $this->type, $wish->all());
        }
        $status = $found === null ? 'created' : 'exists';
        $options = (object)$this->completeOptions($target, self::options($wish));
        return ['target' => $target, 'status' => $status, 'options' => $options, 'error' => null];
    }

    private function mustBePossible(Arguments $wish, string $code): void
    {
        $typed = $this->stream->typedBy !== null;
        if ($typed && ($this->type === null || !$this->box->records('crm_types')->has($this->type))) {
            throw new ItemFault('TYPE_NOT_FOUND', 'type', "there is no smart process $this->type");
        }
        if (preg_match('/^UF_[A-Z0-9_]+$/D', $code) !== 1) {
            throw new ItemFault('VALIDATION', 'code', "$code is not a custom field's code");
        }
        if (!isset(Kinds::OF_CUSTOM_TYPES[$wish->text('type')])) {
            throw new ItemFault('TYPE_UNSUPPORTED', 'type', "the box has no fields of the type {$wish->text('type')}");
        }
    }

    /** @return array<string, string> source option id => the box's */
    private function completeOptions(string $target, array $wanted): array
    {
        $matched = $this->matchOptions($target, $wanted);
        $missing = array_filter($wanted, static fn ($option) => !isset($matched[$option->text('id')]));
        if ($missing === []) {
            return $matched;
        }
        $options = array_map(static fn ($option) => $option->all(), array_values($missing));
        $this->box->customFields()->addOptions($this->stream->name, $this->type, $target, $options);
        return $this->matchOptions($target, $wanted);
    }

    private function matchOptions(string $target, array $wanted): array
    {
        $there = $this->box->customFields()->of($this->stream->name, $this->type)[$target]['options'] ?? [];
        $named = static fn (array $one) => ['xmlId' => $one['xml_id'] ?? ''] + $one;
        $sent = array_map(static fn ($one) => $named($one->all()), $wanted);
        return ListValues::match($sent, array_map($named, $there));
    }
}
