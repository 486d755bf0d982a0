<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Fake;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\CallFault;
use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Json;

/** The REST of a box: addresses, envelopes, and items that fail because a test wants it so. */
final class Site
{
    /** @param list<string> $entities */
    public function __construct(
        private readonly FakeBox $box,
        private readonly Stage $stage,
        private readonly string $secret,
        private readonly array $entities
    ) {
    }

    /** @return array{int, string} status and body */
    public function answer(string $path, string $body): array
    {
        $began = microtime(true);
        try {
            $method = $this->method($path);
            $call = self::batch($method, $body);
            $result = $call === null ? $this->door()->answer($method, $body) : $this->watched($method, $call, $body);
            return [200, Json::encode(['result' => (object)$result, 'time' => self::time($began)])];
        } catch (CallFault $fault) {
            return [$fault->status, self::error($fault->fault, $fault->getMessage())];
        } catch (\Throwable $bug) {
            return [500, self::error('INTERNAL_SERVER_ERROR', $bug::class . ": {$bug->getMessage()} at "
                . basename($bug->getFile()) . ":{$bug->getLine()}")];
        }
    }

    private function door(): Router
    {
        return new Router($this->box, $this->entities);
    }

    private function method(string $path): string
    {
        $parts = explode('/', trim($path, '/'));
        if (count($parts) !== 4 || !in_array($parts[0], ['rest', 'webhook'], true)) {
            throw new CallFault('ERROR_METHOD_NOT_FOUND', 404, 'Method not found!');
        }
        if ($parts[2] !== $this->secret) {
            throw new CallFault('INVALID_CREDENTIALS', 401, 'Invalid request credentials');
        }
        return strtolower(preg_replace('/\.json$/', '', $parts[3]));
    }

    /** @return ?array<string, mixed> the body of a batch that has its effect and is well made around its items */
    private static function batch(string $method, string $body): ?array
    {
        try {
            $call = str_ends_with($method, '.batch') ? (array)Json::decode($body) : [];
        } catch (\JsonException) {
            return null;
        }
        $items = $call['items'] ?? null;
        $isItem = static fn ($item) => is_array($item) && is_string($item['key'] ?? null) && $item['key'] !== '';
        $well = Json::isList($items) && array_filter($items, $isItem) === $items;
        return $well && ($call['dry_run'] ?? false) === false && is_string($call['stream'] ?? null) ? $call : null;
    }

    /**
     * @param array<string, mixed> $call
     * @return array<string, mixed>
     */
    private function watched(string $method, array $call, string $body): array
    {
        $known = array_filter($this->box->map()->entries(array_column($call['items'], 'key')), fn ($one) => $one->id);
        $answers = [];
        $taken = [];
        foreach ($call['items'] as $place => $item) {
            $failure = $this->stage->failure($item['key']);
            if ($failure === null) {
                $taken[$place] = $item;
            } else {
                $answers[$place] = self::failed($item['key'], $failure);
            }
        }
        // as it came, wherever nothing had to be taken out
        $rest = $answers === [] ? $body : Json::encode(['items' => array_values($taken)] + $call);
        $result = $this->door()->answer($method, $rest);
        $answers += array_combine(array_keys($taken), $result['items']);
        ksort($answers);
        (new Watch($this->stage->db))->saw($call['stream'], $call['items'], $answers, $known);
        return ['items' => array_values($answers)];
    }

    /**
     * @param array{code: string, retry: int} $failure
     * @return array<string, mixed>
     */
    private static function failed(string $key, array $failure): array
    {
        $error = ['code' => $failure['code'], 'field' => null, 'message' => "$key: {$failure['code']} as scripted"];
        $error['retry'] = $failure['retry'] === 1;
        return ['key' => $key, 'status' => 'failed', 'id' => null, 'ignored' => [], 'error' => $error];
    }

    private static function error(string $code, string $description): string
    {
        return Json::encode(['error' => $code, 'error_description' => $description]);
    }

    /** @return array<string, mixed> */
    private static function time(float $began): array
    {
        $now = microtime(true);
        $date = static fn (float $moment) => date('c', (int)$moment);
        return [
            'start' => $began,
            'finish' => $now,
            'duration' => $now - $began,
            'processing' => $now - $began,
            'date_start' => $date($began),
            'date_finish' => $date($now),
        ];
    }
}
