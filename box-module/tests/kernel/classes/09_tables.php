<?php

// What describes a table of our own.

declare(strict_types=1);

namespace Bitrix\Main\ORM {

    use B24migrate\Import\Tests\Kernel\Signatures;
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

        public function hasField($name): bool
        {
            return isset(Signatures::table()['classes'][$this->manager]['fields'][$name]);
        }
    }
}

namespace Bitrix\Main\ORM\Fields {

    class StringField
    {
        public function __construct(public string $name, array $parameters = [])
        {
        }

        public function configurePrimary($value = true): static
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
