<?php

declare(strict_types=1);

namespace B24migrate\Import\Kernel;

use Bitrix\Catalog\{MeasureTable, ProductTable};

defined('B_PROLOG_INCLUDED') || exit;

/** Units that products are counted in. The box has those of the classifier that it was made with. */
final class CatalogMeasures extends TableGateway
{
    protected const TABLE = MeasureTable::class;
    protected const FIELDS = [
        'int' => 'code', 'text' => 'measureTitle symbol symbolIntl symbolLetterIntl', 'flag' => 'isDefault',
    ];
    protected const LOSSES = ['isDefault' => 'The default measure of this box stays as it is.'];

    public function reasonToKeep(string $id, array $gone = []): ?string
    {
        return self::rowExists(ProductTable::class, ['=MEASURE' => (int)$id]) ? 'products are counted in it' : null;
    }
}
