<?php

declare(strict_types=1);

namespace B24migrate\Import\Port;

defined('B_PROLOG_INCLUDED') || exit;

/** Everything that the methods need of the box. One is made for each call. */
interface Box
{
    /** Of a stream of the contract, and of `files`. */
    public function records(string $stream): Records;

    /** @return list<string> streams of later versions of the contract that this box serves */
    public function streams(): array;

    public function map(): Map;

    public function guard(): Guard;

    public function customFields(): CustomFields;

    public function uploads(): UploadStore;

    /** Silence: what the call does starts no mail, push, notification, robot or workflow. Called once, first. */
    public function quiet(): void;

    public function rootDepartment(): string;

    public function timezone(): string;

    /** @return list<string> activities that workflow templates may have besides the standard ones, in lower case */
    public function allowedActivities(): array;

    public function limits(): array;

    /** @return array<string, string> version by module, of those that are installed */
    public function versions(): array;

    /**
     * From now on everything that the import starts in spite of the quiet mode is noted.
     *
     * @return \Closure(array<string, list<string>>): array<string, list<string>> asked with the records that were made
     *         since, by stream, tells mails, notifications, agents and workflows that these have started, by kind
     */
    public function listen(): \Closure;

    /** @return list<array<string, string>> what the last self-test has found: rules of `import.fidelity` */
    public function findings(): array;

    /** @param list<array<string, string>> $rules instead of those before */
    public function keepFindings(array $rules): void;

    /**
     * What is left when everything has arrived (counters and recents of chats, dates of activity), a stretch at a
     * time. It may be repeated.
     *
     * @return array{done: int, cursor: ?string}
     */
    public function finalize(string $after): array;
}
