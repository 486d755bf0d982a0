<?php

declare(strict_types=1);

namespace B24migrate\Import\Contract;

defined('B_PROLOG_INCLUDED') || exit;

/** One item of a batch is refused; its neighbours are not affected. */
final class ItemFault extends \RuntimeException
{
    public function __construct(
        public readonly string $fault,
        public readonly ?string $field,
        string $message,
        public readonly bool $retry = false
    ) {
        parent::__construct($message);
    }

    /** Other errors may be temporary. Paths of the box are not sent to the client. */
    public static function of(\Throwable $any): self
    {
        $told = preg_replace('~(?<![\w/])(?:/[^\s/:;,()\'"]+){2,}~', '(path)', $any->getMessage());
        return $any instanceof self ? $any : new self('INTERNAL', null, $any::class . ": $told", true);
    }

    public function body(): array
    {
        return [
            'code' => $this->fault,
            'field' => $this->field,
            'message' => $this->getMessage(),
            'retry' => $this->retry,
        ];
    }
}
