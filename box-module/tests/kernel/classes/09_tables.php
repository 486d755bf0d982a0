<?php

// What describes a table of our own.

declare(strict_types=1);

namespace Bitrix\Main\ORM\Data {

    use B24migrate\Import\Tests\Kernel\World;

    class Entity
    {
        public function __construct(private string $manager)
        {
        }

        public function createDbTable(): void
        {
            World::$tables[$this->manager::getTableName()] = [];
        }

        public function hasField(string $name): bool
        {
            return in_array($name, $this->manager::FIELDS, true);
        }
    }
}

namespace Bitrix\Main\ORM\Fields {

    class StringField
    {
        public function __construct(public string $name)
        {
        }

        public function configurePrimary(): static
        {
            return $this;
        }

        public function configureSize(int $size): static
        {
            return $this;
        }

        public function configureValues(string $no, string $yes): static
        {
            return $this;
        }
    }

    class TextField extends StringField
    {
    }

    class BooleanField extends StringField
    {
    }
}
