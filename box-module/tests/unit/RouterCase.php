<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Tests\Fake\FakeBox;
use B24migrate\Import\Tests\Fake\Mishap;
use PHPUnit\Framework\TestCase;

/** A box in memory and somebody at its door. */
abstract class RouterCase extends TestCase
{
    protected const NOON = '2024-03-01T09:00:00Z';
    protected FakeBox $box;
    protected Mishap $mishap;

    protected function setUp(): void
    {
        $this->mishap = new Mishap();
        $this->box = new FakeBox(':memory:', $this->mishap);
    }

    /** @param array<string, mixed> $body */
    protected function ask(string $method, array $body): array
    {
        return (new Router($this->box))->answer("import.$method", Json::encode((object)$body));
    }

    /** @param array<string, mixed> $body */
    protected function assertRefused(string $code, string $method, array $body): void
    {
        try {
            $this->ask($method, $body);
        } catch (CallFault $fault) {
            $this->assertSame($code, $fault->fault, $fault->getMessage());
            return;
        }
        $this->fail("$method was not refused");
    }

    /**
     * @param array<string, mixed> $fields
     * @return array<string, mixed>
     */
    protected static function item(string $key, array $fields): array
    {
        return ['key' => $key, 'digest' => hash('sha256', Json::canonical($fields)), 'fields' => (object)$fields];
    }

    /** @return list<array<string, mixed>> */
    protected function batch(string $stream, array $items, bool $dry = false): array
    {
        $body = ['stream' => $stream, 'run' => 'r1', 'dry_run' => $dry, 'items' => $items];
        return $this->ask(Catalog::streams()[$stream] . '.batch', $body)['items'];
    }

    /** @param array<string, mixed> $fields */
    protected function send(string $stream, string $key, array $fields): array
    {
        return $this->batch($stream, [self::item($key, $fields)])[0];
    }

    /** @param array<string, mixed> $fields */
    protected function make(string $stream, string $key, array $fields): string
    {
        $answer = $this->send($stream, $key, $fields);
        $this->assertSame('created', $answer['status'], Json::encode($answer));
        return $answer['id'];
    }

    protected function group(string $key = 'g1'): string
    {
        return $this->make('groups', $key, ['NAME' => 'Sales', 'OWNER_ID' => '1']);
    }

    /** @return array<string, mixed> status and reason */
    protected function delete(string $stream, string $key, bool $dry = false): array
    {
        $body = ['stream' => $stream, 'keys' => [$key], 'dry_run' => $dry];
        return $this->ask(Catalog::streams()[$stream] . '.delete', $body)['items'][0];
    }

    /** @return array<string, mixed> */
    protected function listed(string $stream): array
    {
        return $this->ask(Catalog::streams()[$stream] . '.list', ['stream' => $stream]);
    }
}
