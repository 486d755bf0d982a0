<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use B24migrate\Import\Contract\ItemFault;
use Bitrix\Crm\Service\{Container, Factory};

defined('B_PROLOG_INCLUDED') || exit;

/**
 * Pipelines. A new one gets the kernel's own stages, to which those of the source are linked where they agree; the
 * others of them stay. Which it makes is to be checked on a real box.
 */
final class CrmCategories extends Gateway
{
    protected const ATOMIC = false;

    public function find(array $values): ?string
    {
        $type = (int)($values['entityTypeId'] ?? 0);
        foreach ($this->factory($type)?->getCategories() ?? [] as $category) {
            if ($category->getName() === ($values['name'] ?? null)) {
                return CrmNumbers::number($type, (int)$category->getId());
            }
        }
        // Invoices have one hidden pipeline and cannot have another.
        $only = $type === \CCrmOwnerType::SmartInvoice ? $this->factory($type)?->getDefaultCategory() : null;
        return $only ? CrmNumbers::number($type, (int)$only->getId()) : null;
    }

    public function read(array $ids): array
    {
        $found = [];
        foreach ($ids as $number) {
            [$type, $id] = CrmNumbers::parts($number);
            $category = $this->factory($type)?->getCategory($id);
            if ($category) {
                $found[$number] = [
                    'entityTypeId' => (string)$type,
                    'name' => $category->getName(),
                    'sort' => (int)$category->getSort(),
                    'isDefault' => (bool)$category->getIsDefault(),
                ];
            }
        }
        return $found;
    }

    public function create(string $key, array $fields): string
    {
        $type = (int)$fields['entityTypeId'];
        $isMade = $this->factory($type) === null && CrmItems::findFactory($type) !== null;
        // The type of invoices is made with its pipeline.
        $found = $isMade ? $this->find($fields) : null;
        if ($found !== null) {
            return $found;
        }
        $factory = $this->factory($type);
        if ($factory === null) {
            throw new ItemFault('VALIDATION', 'entityTypeId', 'records of this type have no pipelines on this box');
        }
        // The factory sets the type of a pipeline. Setting it again throws for deals.
        $category = $factory->createCategory();
        $this->save($factory, $category, $fields);
        return CrmNumbers::number($type, (int)$category->getId());
    }

    public function update(string $id, array $fields): void
    {
        [$type, $own] = CrmNumbers::parts($id);
        $factory = $this->factory($type);
        $this->save($factory, $factory?->getCategory($own) ?? throw self::deletedFault(), $fields);
    }

    public function delete(string $id): void
    {
        [$type, $own] = CrmNumbers::parts($id);
        $factory = $this->factory($type);
        self::mustSucceed($factory->getCategory($own)->delete());
        $factory->clearCategoriesCache();
    }

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        [$type, $own] = CrmNumbers::parts($id);
        return CrmItems::count($type, ['=CATEGORY_ID' => $own]) > 0 ? 'it has items' : null;
    }

    public function findLeftover(string $key, array $fields): ?string
    {
        return $this->find($fields);
    }

    private function save(Factory $factory, object $category, array $fields): void
    {
        isset($fields['name']) && $category->setName($fields['name']);
        isset($fields['sort']) && $category->setSort($fields['sort']);
        self::mustSucceed($category->save());
        // Which pipeline of deals is the default one cannot be changed; elsewhere there is one at a time.
        if (($fields['isDefault'] ?? false) && !$category->getIsDefault() && $factory->getEntityTypeId() !== 2) {
            $default = $factory->getDefaultCategory();
            if ($default) {
                $default->setIsDefault(false);
                self::mustSucceed($default->save());
            }
            $category->setIsDefault(true);
            self::mustSucceed($category->save());
        }
        // A factory remembers what it has read, and would not know the new one for the rest of the call.
        $factory->clearCategoriesCache();
    }

    private function factory(int $type): ?Factory
    {
        $factory = Container::getInstance()->getFactory($type);
        return $factory?->isCategoriesSupported() ? $factory : null;
    }
}
