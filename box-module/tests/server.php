<?php

/*
 * The module on a fake box, as a web server for tests.
 *
 *     B24_DB=box.sqlite B24_SECRET=abc PHP_CLI_SERVER_WORKERS=4 \
 *         php -d opcache.enable_cli=1 -S 127.0.0.1:8099 box-module/tests/server.php
 *
 * Serves POST /rest/<user>/<secret>/import.… (also /webhook/…) on gateways over one durable SQLite file: what was
 * answered survives kill -9. Environment: B24_DB (the file; `.control` and `.locks` grow beside it), B24_SECRET,
 * B24_LIMITS (JSON of those limits that differ, such as {"items": 3}), B24_ENTITIES (users,groups,…; all when absent),
 * B24_CRASH ({"at": …, "times": …, "how": …}, arranged once, when the files do not exist yet).
 *
 * Control room, JSON in and out, without a secret:
 *     POST /control/reset       {"furniture": {stream: {id: fields}}, "timezone", "limits", "entities", "streams"},
 *         each optional: everything is emptied and furnished anew; "apart": [streams whose records are not written in
 *         one transaction with their key; else users, chats, chat_messages, feed_posts, feed_comments]
 *     GET  /control/snapshot    everything held: {stream: {"rows", "dump"}, "intents", "uploads", "custom", "options"}
 *     GET  /control/dump?stream=groups     [{"key", "id", "digest", "fields", "created_count", "updated_count", …}]
 *     GET  /control/rows?stream=groups     {id: fields} of everything, imported or not; `files` too
 *     GET  /control/custom_fields?stream=crm_deals&type=   {code: {"type", "multiple", "options"}}
 *     GET  /control/watch       {"order_violations", "digest_mismatches"}
 *     POST /control/edit        {"stream", "id", "fields"}: somebody changes a record by hand
 *     POST /control/fail_item   {"glob", "code", "retry", "times"}: the next items whose key matches fail so
 *     POST /control/losses      {stream: {field: "reason"}}: what this box cannot keep from now on
 *     POST /control/crash       {"at", "times", "how"}: the process dies at a point: after-intent, after-create,
 *         after-map, after-update, before-seal, after-seal, after-delete, after-append, before-answer.
 *         how = "gone" (the default): the call ends there and then with a 502, the server lives on;
 *         how = "kill": SIGKILL of the worker, which php -S does not replace, so start it again afterwards.
 */

declare(strict_types=1);

use B24migrate\Import\Contract\Catalog;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Tests\Fake\ControlRoom;
use B24migrate\Import\Tests\Fake\FakeBox;
use B24migrate\Import\Tests\Fake\Site;
use B24migrate\Import\Tests\Fake\Stage;

require __DIR__ . '/autoload.php';

ini_set('serialize_precision', '-1');
ini_set('memory_limit', '1G');
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) === 0) {
        return false;
    }
    throw new \ErrorException($message, 0, $level, $file, $line);
});

$path = (string)getenv('B24_DB');
$stage = new Stage("$path.control");
$box = new FakeBox($path, $stage, (array)Json::decode(getenv('B24_LIMITS') ?: '{}'));
$crash = getenv('B24_CRASH');
if ($crash !== false && $crash !== '' && $box->setting('crash') === null) {
    $box->set('crash', $crash);
    (new ControlRoom($box, $stage))->answer('crash', [], $crash);
}

$url = parse_url($_SERVER['REQUEST_URI']);
$body = (string)file_get_contents('php://input');
if (str_starts_with($url['path'], '/control/')) {
    parse_str($url['query'] ?? '', $query);
    [$status, $answer] = [200, (new ControlRoom($box, $stage))->answer(substr($url['path'], 9), $query, $body)];
} else {
    $all = getenv('B24_ENTITIES') ? explode(',', (string)getenv('B24_ENTITIES')) : Catalog::ENTITIES;
    $entities = $box->setting('entities') ?? $all;
    [$status, $answer] = (new Site($box, $stage, (string)getenv('B24_SECRET'), $entities))->answer($url['path'], $body);
    $stage->at('before-answer');
}
http_response_code($status);
header('Content-Type: application/json; charset=utf-8');
header('Content-Length: ' . strlen($answer));
echo $answer;
