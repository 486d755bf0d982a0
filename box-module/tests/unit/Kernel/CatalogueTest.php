<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Api\Router;
use B24migrate\Import\Contract\ItemFault;
use B24migrate\Import\Contract\Json;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Kernel\MapTable;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

/** Currencies, measures, taxes, price types, sections, properties, products and prices. */
final class CatalogueTest extends KernelCase
{
    private const LANG = [
        'FULL_NAME' => 'Евро', 'FORMAT_STRING' => '# €', 'DEC_POINT' => ',', 'THOUSANDS_SEP' => ' ', 'DECIMALS' => '2',
    ];

    private KernelBox $real;

    protected function setUp(): void
    {
        parent::setUp();
        $this->real = new KernelBox();
        World::set('currencies', 'RUB', ['CURRENCY' => 'RUB', 'AMOUNT' => 1, 'AMOUNT_CNT' => 1, 'BASE' => 'Y']);
        $base = World::put('price_types', ['NAME' => 'BASE', 'BASE' => 'Y', 'XML_ID' => 'BASE', 'SORT' => 100]);
        World::put('price_type_access', ['CATALOG_GROUP_ID' => $base, 'GROUP_ID' => 2, 'BUY' => 'Y']);
        $photos = ['IBLOCK_ID' => 14, 'CODE' => 'MORE_PHOTO', 'NAME' => 'Фото', 'PROPERTY_TYPE' => 'F'];
        World::put('properties', ['MULTIPLE' => 'Y', 'USER_TYPE' => ''] + $photos);
        World::put('properties', [
            'ID' => \CCatalogSku::PARENT, 'IBLOCK_ID' => 15, 'CODE' => 'CML2_LINK', 'NAME' => 'Товар',
            'PROPERTY_TYPE' => 'E', 'MULTIPLE' => 'N', 'USER_TYPE' => 'SKU',
        ]);
    }

    public function testACurrencyIsItsCodeAndTheBaseOneStays(): void
    {
        $currencies = $this->real->records('crm_currencies');
        $euro = ['CURRENCY' => 'EUR', 'AMOUNT' => 90.5, 'AMOUNT_CNT' => 1, 'SORT' => 300];
        $euro['LANG'] = ['ru' => self::LANG];
        $id = $currencies->create('source:crm_currencies:EUR', $euro);
        self::assertSame(['EUR', 'EUR', 'RUB', null], [
            $id, $currencies->find(['CURRENCY' => 'EUR']), $currencies->find(['CURRENCY' => 'RUB']),
            $currencies->find(['CURRENCY' => 'USD']),
        ]);
        self::assertHolds($euro, $currencies->read(['EUR'])['EUR']);
        $currencies->update('EUR', ['AMOUNT' => 100, 'LANG' => (object)['en' => (object)self::LANG], 'SORT' => null]);
        self::assertSame([100, ['ru', 'en']], [
            $currencies->read(['EUR'])['EUR']['AMOUNT'], array_keys($currencies->read(['EUR'])['EUR']['LANG']),
        ]);
        self::assertNull($currencies->reasonToKeep('EUR'));
        $this->real->records('crm_deals')->create('d', ['title' => 'x', 'currencyId' => 'EUR']);
        self::assertSame('deals are in it', $currencies->reasonToKeep('EUR'));
        $currencies->delete('EUR');
        self::assertFalse($currencies->has('EUR'));
        $this->expectExceptionMessage('A currency has three letters.');
        $currencies->create('a', ['CURRENCY' => 'BITCOIN']);
    }

    public function testMeasuresTaxesAndPriceTypes(): void
    {
        $made = [
            'crm_measures' => [
                ['code' => 796, 'measureTitle' => 'Штука', 'symbol' => 'шт', 'symbolIntl' => 'pc'], ['code' => 796],
            ],
            'crm_vats' => [['name' => 'НДС 20%', 'rate' => 20, 'sort' => 10, 'active' => true], ['rate' => 20]],
            'crm_price_types' => [['name' => 'Опт', 'xmlId' => 'WHOLESALE', 'sort' => 200], ['xmlId' => 'WHOLESALE']],
        ];
        foreach ($made as $stream => [$fields, $look]) {
            $records = $this->real->records($stream);
            self::assertNull($records->find($look));
            $id = $records->create("source:$stream:1", $fields);
            self::assertHolds($fields, $records->read([$id])[$id]);
            self::assertSame([$id, null], [$records->find($look), $records->reasonToKeep($id)]);
            self::assertTrue($records->has($id));
            $records->update($id, ['sort' => 50] + $fields);
            $records->delete($id);
            self::assertFalse($records->has($id));
        }
        $free = $this->real->records('crm_vats')->create('v', ['name' => 'Без НДС', 'rate' => null]);
        self::assertNull($this->real->records('crm_vats')->read([$free])[$free]['rate']);
        self::assertSame('Y', World::row('vats', $free)['EXCLUDE_VAT']);
        self::assertNotNull($this->real->records('crm_price_types')->find(['base' => true]));
    }

    /** A handler of somebody else may send what it hears of, or refuse it; those of the kernel keep its tables. */
    public function testOthersDoNotHearOfTheCatalogue(): void
    {
        foreach (['catalog', 'acme.sync', null, 'bitrix.eshop'] as $module) {
            $handler = $module === null ? ['CALLBACK' => 'strlen'] : ['TO_MODULE_ID' => $module];
            World::$tables['handlers of iblock/OnAfterIBlockElementAdd'][] = $handler;
        }
        $this->real->quiet();
        $this->real->records('crm_products')->create('a', ['kind' => 'product', 'name' => 'Болт']);
        self::assertSame([['catalog'], ['bitrix.eshop']], World::calls('OnAfterIBlockElementAdd'));
    }

    public function testAPropertyWhoseValuesAreRefusedLeavesNothing(): void
    {
        $before = World::$tables['properties'];
        World::$quirks['property_enums'] = static fn() => throw new \RuntimeException('Data too long for column');
        $options = [['id' => '26', 'value' => 'Красный']];
        $fields = ['name' => 'Цвет', 'code' => 'COLOR', 'propertyType' => 'L', 'options' => $options];
        $answer = $this->sent('crm_product_props', 'source:crm_product_props:product:7', $fields);
        self::assertSame('failed', $answer['status']);
        self::assertSame($before, World::$tables['properties']);
    }

    public function testWhatABoxHasIsLinkedAndCompleted(): void
    {
        $key = 'source:crm_product_props:product:7';
        World::put('vats', ['NAME' => 'No tax', 'RATE' => null, 'EXCLUDE_VAT' => 'Y', 'ACTIVE' => 'Y', 'SORT' => 1]);
        $color = World::put('properties', [
            'IBLOCK_ID' => 14, 'CODE' => 'COLOR', 'NAME' => 'Color', 'PROPERTY_TYPE' => 'L', 'MULTIPLE' => 'N',
        ]);
        $own = ['PROPERTY_ID' => $color, 'VALUE' => 'Red', 'XML_ID' => 'red', 'SORT' => 5, 'DEF' => 'N'];
        $red = World::put('property_enums', $own);
        $free = $this->sent('crm_vats', 'v', ['name' => 'Без НДС', 'rate' => null]);
        self::assertSame(['created', null], [$free['status'], $free['error']]);
        self::assertCount(1, World::$tables['vats']);
        $fields = ['name' => 'Цвет', 'code' => 'COLOR', 'propertyType' => 'L', 'options' => [
            ['id' => '26', 'value' => 'Красный', 'xmlId' => 'red'], ['id' => '27', 'value' => 'Синий', 'xmlId' => ''],
            ['id' => '28', 'value' => 'Белый', 'xmlId' => ''],
        ]];
        $answer = $this->sent('crm_product_props', $key, $fields);
        self::assertSame((string)$color, $answer['id']);
        self::assertSame([26, 27, 28], array_keys((array)$answer['options']));
        self::assertSame((string)$red, $answer['options']->{'26'});
        self::assertHolds($own, World::row('property_enums', $red));
        $text = ['propertyType' => 'S', 'options' => []] + $fields;
        $answer = $this->sent('crm_product_props', "{$key}1", $text);
        self::assertSame(['created', ['code']], [$answer['status'], $answer['ignored']]);
        $made = $this->real->records('crm_product_props')->read([$answer['id']])[$answer['id']];
        self::assertSame([null, 'S'], [$made['code'], $made['propertyType']]);
        $this->real->map()->drop("{$key}1");
        self::assertSame($answer['id'], $this->real->records('crm_product_props')->findLeftover("{$key}1", $text));
    }

    public function testACodeThatIsTakenIsLeftOut(): void
    {
        World::$options['iblock']['codes_once'] = 'Y';
        foreach (['crm_catalog_sections', 'crm_products'] as $stream) {
            $records = $this->real->records($stream);
            $fields = ['name' => 'Болты', 'code' => 'bolts', 'xmlId' => 'b', 'sort' => 10, 'active' => true];
            $first = $records->create('a', $fields);
            self::assertSame([], $records->leftOut());
            $second = $records->create('b', $fields);
            self::assertSame(['code'], $records->leftOut());
            self::assertSame(['bolts', null], [
                $records->read([$first])[$first]['code'], $records->read([$second])[$second]['code'],
            ]);
        }
    }

    public function testASectionWithProductsIsNeeded(): void
    {
        $sections = $this->real->records('crm_catalog_sections');
        $fields = ['name' => 'Метизы', 'description' => '<b>Всё</b>', 'descriptionType' => 'html', 'active' => false];
        $fields += ['iblockSectionId' => null];
        $above = $sections->create('a', $fields);
        $below = $sections->create('b', ['name' => 'Болты', 'iblockSectionId' => $above]);
        self::assertHolds($fields, $sections->read([$above])[$above]);
        self::assertSame(14, World::row('sections', $above)['IBLOCK_ID']);
        self::assertSame('it has sections below it', $sections->reasonToKeep($above));
        self::assertNull($sections->reasonToKeep($above, [$below]));
        $this->real->records('crm_products')->create('p', ['name' => 'x', 'iblockSectionId' => $below]);
        self::assertSame('products are in it', $sections->reasonToKeep($below));
        $sections->update($below, ['name' => 'Гайки', 'iblockSectionId' => null]);
        self::assertHolds(['name' => 'Гайки', 'iblockSectionId' => null], $sections->read([$below])[$below]);
    }

    public function testAPropertyTellsHowItsValuesAreNumbered(): void
    {
        $properties = $this->real->records('crm_product_props');
        $red = ['id' => '26', 'value' => 'Красный', 'xmlId' => 'red', 'sort' => 10, 'default' => true];
        $color = ['name' => 'Цвет', 'code' => 'COLOR', 'propertyType' => 'L', 'multiple' => false, 'sort' => 10];
        $key = 'source:crm_product_props:offer:7';
        self::assertNull($properties->findLeftover($key, $color));
        $id = $properties->create($key, $color + ['options' => [$red]]);
        self::assertSame([$id, null], [
            $properties->find(['kind' => 'offer', 'code' => 'COLOR']),
            $properties->find(['kind' => 'product', 'code' => 'COLOR']),
        ]);
        ['26' => $own] = $properties->options($id, [$red]);
        $read = $properties->read([$id])[$id];
        self::assertHolds($color + ['options' => [['id' => $own] + $red]], $read);
        $blue = ['id' => '27', 'value' => 'Синий', 'xmlId' => null];
        MapTable::createTable();
        $this->real->map()->put(new Entry($key, 'crm_product_props', $id, str_repeat('0', 64)));
        $properties->update($id, ['options' => [(object)(['value' => 'Алый'] + $red), (object)$blue]] + $color);
        self::assertSame([$own], array_values($properties->options($id, [$red])));
        self::assertSame(['Алый', 'Синий'], array_column($properties->read([$id])[$id]['options'], 'value'));
        self::assertNull($properties->findLeftover($key, $color), 'a key stands for it');
        $this->real->map()->drop($key);
        self::assertSame($id, $properties->findLeftover($key, $color));
        $properties->delete($id);
        self::assertFalse($properties->has($id));
    }

    public function testAProductKeepsItsAuthorDatesPicturesAndValues(): void
    {
        $properties = $this->real->records('crm_product_props');
        $make = fn(string $code, array $more) => $properties->create('source:p:product:1', ['name' => $code] + $more);
        $text = $make('Текст', ['propertyType' => 'S', 'multiple' => true]);
        $html = $make('Описание', ['propertyType' => 'S', 'userType' => 'HTML']);
        $plan = $make('Чертёж', ['propertyType' => 'F']);
        $photo = $this->file('bolt.png');
        $product = [
            'kind' => 'product', 'name' => 'Болт', 'active' => true, 'code' => 'bolt', 'xmlId' => 'x-1', 'sort' => 30,
            'previewText' => "М8\nМ10", 'previewTextType' => 'text', 'detailText' => '<b>М8</b>',
            'detailTextType' => 'html', 'previewPicture' => $photo, 'detailPicture' => null,
            'morePhoto' => [$photo, $this->file('side.png')], 'measure' => '5', 'vatId' => '2', 'vatIncluded' => true,
            'weight' => 12.5, 'width' => null, 'purchasingPrice' => 3, 'purchasingCurrency' => 'RUB',
            'createdBy' => '12', 'modifiedBy' => '13', 'dateCreate' => '2019-01-02T03:04:05Z',
            'timestampX' => '2020-01-02T03:04:05Z', 'iblockSectionId' => null,
            'properties' => [
                $text => ['a', 'б'], $html => [['TEXT' => '<i>x</i>', 'TYPE' => 'html']],
                $plan => [$this->file('plan.pdf')],
            ],
        ];
        $products = $this->real->records('crm_products');
        $id = $products->create('p', $product);
        self::assertEquals($product, array_intersect_key($products->read([$id])[$id], $product));
        $blobs = count(World::$tables['blobs']);
        $products->update($id, $product);
        self::assertEquals($product, array_intersect_key($products->read([$id])[$id], $product));
        self::assertCount($blobs, World::$tables['blobs'], 'no second copy of a file');
        $next = ['morePhoto' => [], 'properties' => (object)[$text => [], $plan => []], 'previewPicture' => null];
        $products->update($id, $next + $product);
        $empty = ['morePhoto' => [], 'previewPicture' => null] + $product;
        $empty['properties'] = [$html => $product['properties'][$html]];
        self::assertEquals($empty, array_intersect_key($products->read([$id])[$id], $product));
    }

    /** Nothing is not 0: that would be a price without a currency, and the box refuses the product. */
    public function testAProductWithoutSizesAndPurchasingPriceHasNone(): void
    {
        $products = $this->real->records('crm_products');
        $none = array_fill_keys(['width', 'height', 'length', 'purchasingPrice', 'purchasingCurrency'], null);
        $id = $products->create('a', ['kind' => 'product', 'name' => 'Болт', 'weight' => null] + $none);
        self::assertHolds($none, $products->read([$id])[$id]);
        $sizes = ['width' => 5, 'height' => 6.5, 'length' => 7];
        $some = $sizes + ['purchasingPrice' => 3, 'purchasingCurrency' => 'RUB'];
        $products->update($id, $some);
        self::assertHolds($some, $products->read([$id])[$id]);
        $products->update($id, $none);
        self::assertHolds($none, $products->read([$id])[$id]);
    }

    public function testOffersServicesAndProductsOfOffers(): void
    {
        $products = $this->real->records('crm_products');
        $parent = $products->create('a', ['kind' => 'parent', 'name' => 'Футболка']);
        $offer = $products->create('b', ['kind' => 'offer', 'name' => 'Футболка S', 'parentId' => $parent]);
        $service = $products->create('c', ['kind' => 'service', 'name' => 'Доставка']);
        $read = $products->read([$parent, $offer, $service]);
        self::assertSame(['parent', 'offer', 'service'], array_column($read, 'kind'));
        self::assertSame([null, $parent, null], array_column($read, 'parentId'));
        World::set('products', (int)$parent, ['TYPE' => 6] + World::row('products', $parent));
        self::assertSame('parent', $products->read([$parent])[$parent]['kind'], 'its offers are all gone');
        self::assertSame('it has offers', $products->reasonToKeep($parent));
        self::assertNull($products->reasonToKeep($parent, [$offer]));
        World::put('product_rows', ['PRODUCT_ID' => (int)$offer]);
        self::assertSame('deals or the like have it', $products->reasonToKeep($offer));
        $products->delete($service);
        self::assertFalse($products->has($service));
    }

    public function testABoxWithoutOffersRefusesThem(): void
    {
        World::$options['crm']['no_offers'] = 'Y';
        $this->expectException(ItemFault::class);
        $this->expectExceptionMessage('has no catalogue of offers');
        $this->real->records('crm_products')->create('b', ['kind' => 'offer', 'name' => 'x', 'parentId' => '1']);
    }

    public function testAPictureThatIsNoneToTheBoxIsLeftOut(): void
    {
        $products = $this->real->records('crm_products');
        $id = $products->create('a', ['name' => 'x', 'previewPicture' => $this->file('photo.heic')]);
        self::assertSame(['previewPicture'], $products->leftOut());
        self::assertNull($products->read([$id])[$id]['previewPicture']);
    }

    private function sent(string $stream, string $key, array $fields): array
    {
        MapTable::exists() || MapTable::createTable();
        $item = ['key' => $key, 'digest' => hash('sha256', Json::canonical($fields)), 'fields' => (object)$fields];
        $body = Json::encode(['stream' => $stream, 'items' => [$item]]);
        return (new Router($this->real))->answer('import.crm.batch', $body)['items'][0];
    }

    /** The kernel writes the lowest price of the offers into their product. */
    public function testAPriceThatTheKernelHasMadeIsTaken(): void
    {
        $products = $this->real->records('crm_products');
        $parent = $products->create('a', ['kind' => 'parent', 'name' => 'x', 'timestampX' => '2020-01-02T03:04:05Z']);
        $offer = $products->create('b', ['kind' => 'offer', 'name' => 'x', 'parentId' => $parent]);
        $prices = $this->real->records('crm_prices');
        $type = (string)array_key_first(World::$tables['price_types']);
        $price = ['catalogGroupId' => $type, 'price' => 10.5, 'currency' => 'RUB', 'quantityFrom' => null];
        $own = $prices->create('p', ['productId' => $offer] + $price);
        $above = $prices->create('q', ['productId' => $parent, 'price' => 10] + $price);
        self::assertCount(2, World::$tables['prices']);
        self::assertHolds(['productId' => $offer, 'quantityTo' => null] + $price, $prices->read([$own])[$own]);
        self::assertHolds(['productId' => $parent, 'price' => 10] + $price, $prices->read([$above])[$above]);
        self::assertSame('it has prices', $products->reasonToKeep($offer));
        self::assertSame('products have such prices', $this->real->records('crm_price_types')->reasonToKeep($type));
        $prices->update($own, ['price' => 11]);
        $prices->delete($own);
        self::assertFalse($prices->has($own));
        $this->expectExceptionMessage('There is no such currency');
        $prices->create('r', ['productId' => $offer, 'currency' => 'XXX'] + $price);
    }
}
