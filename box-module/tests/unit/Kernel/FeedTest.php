<?php

declare(strict_types=1);

namespace B24migrate\Import\Tests\Unit\Kernel;

use B24migrate\Import\Kernel\Dates;
use B24migrate\Import\Kernel\KernelBox;
use B24migrate\Import\Port\Entry;
use B24migrate\Import\Tests\Kernel\KernelCase;
use B24migrate\Import\Tests\Kernel\World;

final class FeedTest extends KernelCase
{
    private string $ann;

    protected function setUp(): void
    {
        parent::setUp();
        $this->ann = $this->person();
    }

    /** @param array<string, mixed> $more @return array<string, mixed> */
    private function post(array $more = []): array
    {
        return $more + [
            'TITLE' => 'News',
            'DETAIL_TEXT' => 'We [b]moved[/b]',
            'AUTHOR_ID' => $this->ann,
            'DATE_PUBLISH' => '2024-03-31T00:30:00Z',
            'DEST' => ['UA', 'SG12'],
            'IMPORTANT' => true,
            'TAGS' => ['office', 'moving'],
            'FILES' => [],
        ];
    }

    /** @return array<string, mixed> */
    private function log(): array
    {
        self::assertCount(1, World::$tables['log']);
        return array_values(World::$tables['log'])[0];
    }

    public function testAPostArrivesAndIsShownWithItsOwnDate(): void
    {
        $post = $this->post(['FILES' => [$this->file('b.txt'), $this->file('a.txt')]]);
        $id = $this->made('feed_posts', $post);
        self::assertHolds($post, $this->now('feed_posts', $id));
        $shown = [
            'EVENT_ID' => 'blog_post_important',
            '=LOG_DATE' => 'date(31.03.2024 02:30:00)',
            '=LOG_UPDATE' => 'date(31.03.2024 02:30:00)',
            'SOURCE_ID' => (int)$id,
            'USER_ID' => (int)$this->ann,
            'TEXT_MESSAGE' => 'We moved',
        ];
        self::assertHolds($shown, $this->log());
        self::assertSame([['UA', 'SG12']], array_column(World::$tables['log_rights'], 'CODES'));
    }

    public function testAPostAndACommentWithEmojiAreReadBackAsTheyWereSent(): void
    {
        $post = $this->post(['TITLE' => 'Party 🎉', 'DETAIL_TEXT' => 'Cake 🎂']);
        $id = $this->made('feed_posts', $post);
        self::assertHolds($post, $this->now('feed_posts', $id));
        $comment = ['post_id' => $id, 'author_id' => $this->ann, 'date' => '2024-05-01T08:00:00Z', 'text' => 'Mmm 😀'];
        $said = $this->made('feed_comments', $comment);
        self::assertHolds($comment, $this->now('feed_comments', $said));
        $this->records('feed_comments')->update($said, ['text' => '👍']);
        self::assertSame('👍', $this->now('feed_comments', $said)['text']);
    }

    /** The kernel asks whether the author may read what he attaches, and only administrators may. */
    public function testFilesOfPeopleWhoAreNoAdministratorsArrive(): void
    {
        $id = $this->made('feed_posts', $this->post(['FILES' => [$this->file('a.txt')]]));
        $comment = ['post_id' => $id, 'author_id' => $this->ann, 'date' => '2024-05-01T08:00:00Z', 'text' => 'x'];
        $said = $this->made('feed_comments', $comment + ['files' => [$this->file('b.txt')]]);
        $other = ['files' => [$this->file('c.txt')]];
        $this->records('feed_comments')->update($said, $other);
        self::assertHolds($other, $this->now('feed_comments', $said));
        $more = ['FILES' => [$this->file('d.txt'), $this->file('e.txt')]];
        $this->records('feed_posts')->update($id, $more);
        self::assertHolds($more, $this->now('feed_posts', $id));
    }

    public function testACommentThatTheFeedRefusesIsNotThereWithoutItsTwin(): void
    {
        $id = $this->made('feed_posts', $this->post());
        World::$options['socialnetwork']['refuses comments'] = 'Y';
        $this->expectExceptionMessage('does not take this comment into the feed');
        $comment = ['post_id' => $id, 'author_id' => $this->ann, 'date' => '2024-05-01T08:00:00Z', 'text' => 'x'];
        $this->made('feed_comments', $comment);
    }

    public function testOnceAllIsThereAPostStandsWhereItsLastCommentPutIt(): void
    {
        $real = new KernelBox();
        $id = $this->made('feed_posts', $this->post());
        $real->map()->put(new Entry('k', 'feed_posts', $id, str_repeat('0', 64)));
        foreach (['2024-06-01T08:00:00Z', '2024-05-01T08:00:00Z'] as $at => $date) {
            $comment = ['post_id' => $id, 'author_id' => $this->ann, 'date' => $date, 'text' => 'x'];
            $this->made('feed_comments', $comment, "source:feed_comments:$at");
        }
        self::assertSame('date(31.03.2024 02:30:00)', $this->log()['=LOG_UPDATE']);
        for ($told = ['cursor' => '']; $told['cursor'] !== null;) {
            $told = $real->finalize($told['cursor']);
        }
        self::assertSame('2024-06-01T08:00:00Z', Dates::utc($this->log()['LOG_UPDATE']));
        $rights = array_column(World::$tables['log_rights'], 'LOG_UPDATE');
        self::assertSame(['2024-06-01T08:00:00Z'], array_map(Dates::utc(...), $rights));
    }

    public function testAPostToNobodyStaysWithItsAuthor(): void
    {
        $id = $this->made('feed_posts', $this->post(['DEST' => []]));
        self::assertSame(["U{$this->ann}"], $this->now('feed_posts', $id)['DEST']);
    }

    public function testRecipientsAreToldApartFromTheRightsTheKernelAdds(): void
    {
        foreach ([['UA'], ["U{$this->ann}", 'U1'], ['DR3', 'SG12']] as $at => $to) {
            $id = $this->made('feed_posts', $this->post(['DEST' => $to]), "source:feed_posts:$at");
            self::assertEqualsCanonicalizing($to, $this->now('feed_posts', $id)['DEST']);
        }
    }

    public function testWhatHasNoTitleOrTextHasNoneAfterwards(): void
    {
        $id = $this->made('feed_posts', $this->post(['TITLE' => null]));
        self::assertNull($this->now('feed_posts', $id)['TITLE']);
        self::assertSame('Y', World::row('posts', $id)['MICRO']);
        $bare = $this->made('feed_posts', $this->post(['TITLE' => 'Photo', 'DETAIL_TEXT' => null]), 'source:2');
        self::assertHolds(['TITLE' => 'Photo', 'DETAIL_TEXT' => null], $this->now('feed_posts', $bare));
    }

    public function testATitleThatRepeatsTheTextIsNotShownTwice(): void
    {
        $repeated = ['TITLE' => 'We moved...', 'DETAIL_TEXT' => 'We [b]moved[/b] at last'];
        $id = $this->made('feed_posts', $this->post($repeated));
        self::assertSame('Y', World::row('posts', $id)['MICRO']);
        self::assertSame('We moved...', $this->now('feed_posts', $id)['TITLE']);
        $other = $this->made('feed_posts', $this->post(), 'source:2');
        self::assertSame('N', World::row('posts', $other)['MICRO']);
    }

    public function testAnUpdateChangesThePostAndItsRowOfTheLog(): void
    {
        $id = $this->made('feed_posts', $this->post());
        $next = ['DEST' => ['U1'], 'TAGS' => ['office'], 'DATE_PUBLISH' => '2024-04-02T00:00:00Z'];
        $next += ['TITLE' => null, 'FILES' => [$this->file()], 'IMPORTANT' => false];
        $this->records('feed_posts')->update($id, $next);
        self::assertHolds($this->post($next), $this->now('feed_posts', $id));
        self::assertHolds(['=LOG_DATE' => 'date(02.04.2024 03:00:00)', 'EVENT_ID' => 'blog_post'], $this->log());
        self::assertSame([['U1']], array_column(World::$tables['log_rights'], 'CODES'));
        self::assertCount(2, World::$tables['categories'], 'a tag that the author had is not made again');
    }

    public function testACommentArrivesWithItsTwinAndDoesNotMoveThePostUp(): void
    {
        $post = $this->made('feed_posts', $this->post());
        $comment = [
            'post_id' => $post,
            'author_id' => '1',
            'date' => '2024-05-01T08:00:00Z',
            'text' => 'At last',
            'files' => [$this->file()],
        ];
        $id = $this->made('feed_comments', $comment);
        self::assertHolds($comment, $this->now('feed_comments', $id));
        self::assertSame('date(31.03.2024 02:30:00)', $this->log()['=LOG_UPDATE']);
        self::assertSame(1, World::row('posts', $post)['NUM_COMMENTS']);
        self::assertSame('it has comments', $this->records('feed_posts')->reasonToKeep($post));

        $this->records('feed_comments')->update($id, ['text' => null]);
        self::assertHolds(['text' => null] + $comment, $this->now('feed_comments', $id));
        self::assertSame([''], array_column(World::$tables['log_comments'], 'MESSAGE'));

        $this->records('feed_comments')->delete($id);
        self::assertSame([], World::$tables['log_comments']);
        self::assertNull($this->records('feed_posts')->reasonToKeep($post));
        $this->records('feed_posts')->delete($post);
        self::assertSame([], World::$tables['log']);
    }
}
