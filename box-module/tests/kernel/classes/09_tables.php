<?php

// What describes a table of our own.

declare(strict_types=1);

namespace Bitrix\Main\ORM {

    use B24migrate\Import\Tests\Kernel\FakeConnection;
    use B24migrate\Import\Tests\Kernel\Signatures;
    use B24migrate\Import\Tests\Kernel\World;

    class Entity
    {
        public function __construct(private string $manager)
        {
        }

        public function createDbTable(): void
        {
            $table = $this->manager::getTableName();
            $fields = $this->manager::getMap();
            $sizes = array_combine(array_column($fields, 'name'), array_map(fn($field) => $field->size(), $fields));
            $primary = array_filter($fields, fn($field) => $field->primary);
            FakeConnection::refuseLongKey(array_sum(array_map(fn($field) => $field->size(), $primary)));
            World::$services["columns $table"] = (object)['sizes' => $sizes];
            World::$tables[$table] = [];
        }

        public function hasField($name): bool
        {
            return isset(Signatures::table()['classes'][$this->manager]['fields'][$name]);
        }
    }
}

namespace Bitrix\Main\ORM\Fields\Validators {

    class LengthValidator
    {
        public function __construct(
            private $min = 1,
            private $max = null,
            $errorPhrase = ['MIN' => null, 'MAX' => null]
        ) {
        }

        public function getMax()
        {
            return $this->max;
        }
    }
}

namespace Bitrix\Main\ORM\Fields {

    class StringField
    {
        public bool $primary = false;

        public function __construct(public string $name, private array $parameters = [])
        {
        }

        /** The size of a column is that of its longest validator, whatever size it is configured to have. */
        public function size(): int
        {
            $validators = isset($this->parameters['validation']) ? $this->parameters['validation']() : [];
            $sizes = array_map(fn(Validators\LengthValidator $one) => (int)$one->getMax(), $validators);
            return $sizes === [] ? 255 : max($sizes);
        }

        public function configurePrimary($value = true): static
        {
            $this->primary = $value;
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

    class IntegerField extends StringField
    {
        public function __construct($name, $parameters = array())
        {
            parent::__construct($name, $parameters);
        }
    }

    class DatetimeField extends IntegerField
    {
    }

    class BooleanField extends StringField
    {
    }
}
