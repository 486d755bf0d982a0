<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\UploadFolder;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class FilesTest extends KernelCase
{
    private const KEY = 'source:file:disk:5255';

    public function testAnUploadGrowsAndEndsAsAFileOfTheBox(): void
    {
        $shelf = $this->box->uploads();
        self::assertNull($shelf->upload(self::KEY));
        $shelf->begin(self::KEY, 'план.pdf', 10, hash('sha256', '0123456789'));
        $shelf->append(self::KEY, 0, '01234');
        $shelf->append(self::KEY, 5, '56789');
        self::assertSame(10, $shelf->upload(self::KEY)['received']);
        self::assertSame(hash('sha256', '0123456789'), $shelf->sha256(self::KEY));
        self::assertNull($this->records('files')->findLeftover(self::KEY, []));
        $id = $shelf->keep(self::KEY);
        $found = $this->records('files')->findLeftover(self::KEY, []);
        self::assertSame($id, $found, 'found by a call after one that died');
        $shelf->discard(self::KEY);
        self::assertNull($shelf->upload(self::KEY));
        self::assertSame(['name' => 'план.pdf', 'size' => 10], $this->now('files', $id));
    }

    public function testBytesThatADeadCallLeftAreWrittenOver(): void
    {
        $shelf = $this->box->uploads();
        $shelf->begin(self::KEY, 'a', 6, '');
        $shelf->append(self::KEY, 0, 'abc');
        // The next chunk reached the disk, and the note of it did not.
        file_put_contents(glob($this->folder . '/*.part')[0], 'XYZXYZ', FILE_APPEND);
        $again = new UploadFolder($this->folder);
        self::assertSame(3, $again->upload(self::KEY)['received']);
        $again->append(self::KEY, 3, 'def');
        self::assertSame(hash('sha256', 'abcdef'), $again->sha256(self::KEY));
    }

    public function testAnUploadThatBeginsAnewForgetsWhatWasThere(): void
    {
        $shelf = $this->box->uploads();
        $shelf->begin(self::KEY, 'a', 6, '');
        $shelf->append(self::KEY, 0, 'abcdef');
        $shelf->begin(self::KEY, 'a', 2, '');
        self::assertSame(0, $shelf->upload(self::KEY)['received']);
        $shelf->append(self::KEY, 0, 'xy');
        self::assertSame(hash('sha256', 'xy'), $shelf->sha256(self::KEY));
    }

    public function testFilesOfTheSameNameKeepTheirNames(): void
    {
        $one = $this->file('photo.jpg', 'one');
        $two = $this->file('photo.jpg', 'two');
        self::assertNotSame($one, $two);
        self::assertSame('photo.jpg', $this->now('files', $two)['name']);
    }

    public function testAnEmptyFileIsAFileToo(): void
    {
        self::assertSame(['name' => '.keep', 'size' => 0], $this->now('files', $this->file('.keep', '')));
    }

    public function testNobodyIsGivenRightsOnTheStorage(): void
    {
        $this->file();
        $this->file('other.txt');
        self::assertSame([[]], array_column(World::calls('Driver::addCommonStorage'), 1), 'made once, without rights');
    }

    public function testAnAttachedFileIsNeeded(): void
    {
        $id = $this->file();
        self::assertNull($this->records('files')->reasonToKeep($id));
        World::put('attached', ['OBJECT_ID' => (int)$id]);
        self::assertSame('it is attached to something', $this->records('files')->reasonToKeep($id));
        $this->records('files')->delete($id);
        self::assertFalse($this->records('files')->has($id));
    }

    public function testTheFolderOfTheBoxHasANameThatNobodyCanGuess(): void
    {
        new UploadFolder();
        $secret = World::$options['b24migrate.import']['shelf'];
        new UploadFolder();
        self::assertSame($secret, World::$options['b24migrate.import']['shelf']);
        self::assertSame(32, strlen($secret));
    }

    public function testAFileIsNeverInMemoryAsAWhole(): void
    {
        $shelf = new UploadFolder($this->folder);
        $chunk = random_bytes(1024 * 1024);
        $running = hash_init('sha256');
        $shelf->begin('f2', 'film.mp4', 120 * strlen($chunk), str_repeat('0', 64));
        $before = memory_get_peak_usage();
        for ($number = 0; $number < 120; $number++) {
            hash_update($running, $chunk);
            $shelf->append('f2', $number * strlen($chunk), $chunk);
        }
        $this->assertSame(hash_final($running), $shelf->sha256('f2'));
        $this->assertLessThan(8 * strlen($chunk), memory_get_peak_usage() - $before);
        $shelf->discard('f2');
    }
}
