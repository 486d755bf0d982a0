<?php

declare(strict_types=1);

namespace B24migrate\Import\Api;

use B24migrate\Import\Contract\{CallFault, Catalog, Stream};
use B24migrate\Import\Port\Box;

defined('B_PROLOG_INCLUDED') || exit;

/** Which method is asked, and who answers it. */
final class Router
{
    private const VERBS = ['fields', 'batch', 'list', 'delete'];
    private const ALONE = ['import.info', 'import.fidelity', 'import.finalize', 'import.selftest', 'import.files.put'];

    /** @param list<string> $entities those that this box serves */
    public function __construct(private readonly Box $box, private readonly array $entities = Catalog::ENTITIES)
    {
    }

    /** @return list<string> every method of the contract for these entities, and three of this module */
    public static function methods(array $entities = Catalog::ENTITIES): array
    {
        $methods = self::ALONE;
        foreach ($entities as $entity) {
            foreach (self::VERBS as $verb) {
                $methods[] = "import.$entity.$verb";
            }
        }
        return in_array('users', $entities, true) ? [...$methods, 'import.users.match'] : $methods;
    }

    /**
     * The `result` of a call. The body is taken as it came, because only there an empty list is not an empty object.
     *
     * @throws CallFault
     */
    public function answer(string $method, string $body): array
    {
        if (!in_array($method, self::methods($this->entities), true)) {
            throw new CallFault('ERROR_METHOD_NOT_FOUND', 404, 'Method not found!');
        }
        $most = $this->box->limits()['body_bytes'];
        if (strlen($body) > $most) {
            throw CallFault::malformed("a body may hold at most $most bytes");
        }
        $given = Arguments::ofBody($body);
        $this->box->quiet();
        return $this->dispatch($method, $given);
    }

    private function dispatch(string $method, Arguments $body): array
    {
        return match ($method) {
            'import.info' => Info::answer($this->box, $this->entities),
            'import.fidelity' => Info::fidelity($this->box, $this->entities),
            'import.finalize' => $this->box->finalize($body->word('after')),
            'import.selftest' => (new Selftest($this->box, $this->entities))->answer(),
            'import.files.put' => Uploads::answer($this->box, $body),
            'import.users.match' => Info::match($this->box, $body),
            default => $this->dispatchToStream($method, $body),
        };
    }

    private function dispatchToStream(string $method, Arguments $body): array
    {
        [, $entity, $verb] = explode('.', $method);
        $stream = $this->stream($entity, $body->text('stream'));
        return match ($verb) {
            'fields' => Fields::answer($this->box, $stream, $body),
            'batch' => Batch::answer($this->box, $stream, $body),
            'list' => Listing::answer($this->box, $stream, $body),
            'delete' => Deletion::answer($this->box, $stream, $body),
        };
    }

    private function stream(string $entity, string $name): Stream
    {
        $stream = Catalog::stream($name);
        $isServed = !Catalog::isOfLaterVersion($name) || in_array($name, $this->box->streams(), true);
        if ($stream === null || $stream->entity !== $entity || !$isServed) {
            throw CallFault::malformed("$entity has no stream $name");
        }
        return $stream;
    }
}
