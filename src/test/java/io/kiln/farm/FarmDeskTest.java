// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.desk.Taker;
import io.kiln.farm.desk.Ticket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which job goes where, and whose answers count. */
final class FarmDeskTest {
    private static final Taker EMULATOR = new Taker("w", "0", "emulator", Set.of("b", "c"));
    private static final Taker BOARD = new Taker("w", "left", "board", Set.of("b"));

    @TempDir
    private Path folder;

    private final List<FarmEvent> events = new ArrayList<>();
    private Instant now = Instant.parse("2026-11-30T08:00:00Z");
    private FarmDesk desk;

    private final Clock clock = new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    };

    @BeforeEach
    void begin() {
        desk = new FarmDesk(folder, clock, events::add);
    }

    private void send(String job, String project, String needs, String place, String image) {
        desk.sent(new Ticket(
                job,
                "client",
                "b",
                place,
                new Ticket.Sort("run", project, 4, Labels.parse("", needs), "1.0.0", image),
                now));
        desk.kept(job);
    }

    private void send(String job, String project) {
        send(job, project, "", "emulator", job);
    }

    private void run(Taker taker, String job, long seconds, String result) {
        assertThat(desk.mayTake(taker, job)).isTrue();
        desk.taken(taker, job, 1);
        now = now.plusSeconds(seconds);
        assertThat(desk.answered(taker.worker(), job, "client", result)).isTrue();
        desk.finished(job, false);
    }

    /** A queue of 100 jobs does not keep one of another project waiting, and time counts rather than jobs. */
    @Test
    void projects_share_time() {
        IntStream.range(0, 100).forEach(i -> send("long" + i, "long"));
        IntStream.range(0, 100).forEach(i -> send("short" + i, "short"));
        int longs = 0;
        int shorts = 0;
        for (int i = 0; i < 40; i++) {
            if (desk.mayTake(EMULATOR, "long" + longs)) {
                run(EMULATOR, "long" + longs++, 9, "done");
            } else {
                run(EMULATOR, "short" + shorts++, 3, "done");
            }
        }
        assertThat(longs * 9 - shorts * 3).isBetween(-9, 9);
        send("new1", "new");
        send("new2", "new");
        assertThat(desk.mayTake(EMULATOR, "new1")).isTrue();
    }

    /** The broker's queue is the truth: a job of which the desk believes that it waits keeps others back for seconds only. */
    @Test
    void fairness_holds_nobody_back_for_long() {
        send("a1", "a");
        send("a2", "a");
        send("b1", "b");
        run(EMULATOR, "a1", 5, "done");
        assertThat(desk.mayTake(EMULATOR, "a2")).isFalse();
        assertThat(desk.hasToOffer(Duration.ZERO)).isTrue();
        assertThat(desk.hasToOffer(Duration.ZERO)).isFalse();
        now = now.plus(FarmDesk.MOST_PASSING).plusSeconds(1);
        assertThat(desk.mayTake(EMULATOR, "a2")).isTrue();
        // Not again for the next job.
        send("a3", "a");
        run(EMULATOR, "a2", 0, "done");
        run(EMULATOR, "b1", 1, "done");
        send("b2", "b");
        assertThat(desk.mayTake(EMULATOR, "a3")).isTrue();
        assertThat(desk.oldestSeconds()).isEqualTo(1);
    }

    @Test
    void another_priority_is_the_queues_affair() {
        send("a1", "a");
        send("a2", "a");
        run(EMULATOR, "a1", 5, "done");
        desk.sent(new Ticket(
                "b1", "client", "b", "emulator", new Ticket.Sort("tune", "b", 2, Labels.NONE, "1.0.0", "i"), now));
        assertThat(desk.mayTake(EMULATOR, "a2")).isTrue();
    }

    private void heard(String labels) {
        desk.heard("w", WorkerLabels.parse("kiln.worker.labels", labels, Set.of("left")));
    }

    @Test
    void labels_choose_workers() {
        send("any", "a");
        send("real", "a", "silicon=real,room=3*", "emulator", "i");
        send("mine", "a", "worker=w", "emulator", "i");
        assertThat(desk.mayTake(EMULATOR, "any")).isTrue();
        assertThat(desk.mayTake(EMULATOR, "mine")).isTrue();
        assertThat(desk.mayTake(EMULATOR, "real")).isFalse();
        heard("silicon=real,room=31,team=a");
        assertThat(desk.mayTake(EMULATOR, "real")).isTrue();
        heard("silicon=real,room=13");
        assertThat(desk.mayTake(EMULATOR, "real")).isFalse();
        desk.silent("w");
        assertThat(desk.mayTake(EMULATOR, "real")).isFalse();
        assertThatThrownBy(() -> Labels.parse("kiln.farm.labels", "Room=3"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.farm.labels: not a label: `Room=3`");
    }

    /** What a worker says of one board does not count for its emulators, nor for its other boards. */
    @Test
    void labels_choose_boards() {
        send("real", "a", "silicon=real", "board", "i");
        send("left", "a", "slot=l*,desk=left", "board", "i");
        send("none", "a", "silicon=none,board=*b", "emulator", "i");
        send("other", "a", "board=c*", "board", "i");
        send("this", "a", "board=*b*", "board", "i");
        heard("room=3,left/silicon=real,left/desk=left");
        Taker right = new Taker("w", "right", "board", Set.of("b"));
        assertThat(desk.mayTake(BOARD, "real")).isTrue();
        assertThat(desk.mayTake(right, "real")).isFalse();
        assertThat(desk.mayTake(BOARD, "left")).isTrue();
        assertThat(desk.mayTake(EMULATOR, "none")).isTrue();
        assertThat(desk.mayTake(right, "left")).isFalse();
        assertThat(desk.mayTake(BOARD, "other")).isFalse();
        assertThat(desk.mayTake(right, "this")).isTrue();
    }

    @Test
    void labels_of_a_worker_are_checked_all_at_once() {
        assertThatThrownBy(() -> heard("board=x,rigth/room=3,Room=4,left/slot=1"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("not a label: `Room=4`")
                .hasMessageContaining("the label `slot` is given by the farm itself")
                .hasMessageContaining("no board has the probe `rigth`; expected one of [left]");
    }

    /** Patterns of others take no longer than their length says. */
    @Test
    void a_hostile_pattern_is_compared_at_once() {
        heard("room=" + "a".repeat(40));
        send("j", "a", "room=" + "a*".repeat(19) + "b", "emulator", "i");
        send("k", "a", "room=" + "*a".repeat(20), "emulator", "i");
        for (int i = 0; i < 10_000; i++) {
            heard("room=" + "a".repeat(40 - i % 2));
            assertThat(desk.mayTake(EMULATOR, "j")).isFalse();
            assertThat(desk.mayTake(EMULATOR, "k")).isTrue();
        }
    }

    @Test
    void what_is_held_gets_nothing_and_stays_held_when_the_broker_ends() {
        send("e", "a");
        send("h", "a", "", "board", "i");
        desk.hold("w/left", false, "new cable");
        assertThat(desk.mayTake(EMULATOR, "e")).isTrue();
        assertThat(desk.mayTake(BOARD, "h")).isFalse();
        FarmDesk next = new FarmDesk(folder, clock, events::add);
        assertThat(next.held()).containsExactly(new Hold("w/left", "2026-11-30T08:00:00Z", false, "new cable"));
        assertThat(desk.release("w/left")).isTrue();
        assertThat(desk.release("w/left")).isFalse();
        assertThat(desk.mayTake(BOARD, "h")).isTrue();
        desk.hold("w", false, "away");
        assertThat(desk.mayTake(EMULATOR, "e")).isFalse();
    }

    /** A full disk, for example. */
    @Test
    void a_hold_that_cannot_be_kept_counts_all_the_same() throws IOException {
        Path blocked = Files.writeString(folder.resolve("blocked"), "in the way");
        FarmDesk other = new FarmDesk(blocked, clock, events::add);
        other.hold("w", false, "away");
        assertThat(other.held()).hasSize(1);
        assertThat(events.get(0).text())
                .startsWith("event=held unit=w quarantine=false reason=away problem=\"not kept: " + blocked);
    }

    /** The same image three times, an image that is at fault itself, and failures between successes say nothing of a board. */
    @Test
    void a_board_that_fails_three_different_jobs_is_quarantined() {
        String[] results = {
            "failed-FLASH", "failed-FLASH", "failed-VERIFY", "done", "failed-RUN", "failed-FLASH", "failed-DEVICE"
        };
        String[] images = {"1", "1", "2", "3", "1", "2", "3"};
        for (int i = 0; i < results.length; i++) {
            assertThat(desk.held()).isEmpty();
            send("j" + i, "a", "", "board", images[i]);
            run(BOARD, "j" + i, 1, results[i]);
        }
        assertThat(desk.held()).singleElement().satisfies(hold -> {
            assertThat(hold.unit()).isEqualTo("w/left");
            assertThat(hold.isQuarantine()).isTrue();
            assertThat(hold.reason()).isEqualTo("3 different jobs failed on it");
        });
        assertThat(events.get(events.size() - 1).text())
                .isEqualTo("event=held unit=w/left quarantine=true reason=\"3 different jobs failed on it\"");
    }

    @Test
    void answers_that_nobody_asked_for_are_refused_and_counted() {
        send("j", "a");
        assertThat(desk.answered("w", "other", "client", "done")).isFalse();
        assertThat(desk.answered("w", "j", "somebody", "done")).isFalse();
        run(EMULATOR, "j", 1, "done");
        // Late, but no lie: of two workers that had a job, one is slower.
        assertThat(desk.answered("v", "j", "client", "done")).isFalse();
        assertThat(desk.answered("v", "j", "client", "done")).isFalse();
        assertThat(desk.answered("v", "j", "client", "done")).isFalse();
        assertThat(desk.held()).isEmpty();
        desk.complaint("somebody", "j", "not theirs to say");
        assertThat(desk.held()).isEmpty();
        desk.complaint("client", "j", "it is the answer to another job");
        desk.complaint("client", "j", "twice does not count");
        // "other", "j" once: two different jobs speak against it.
        assertThat(desk.held()).isEmpty();
        assertThat(desk.answered("w", "third", "client", "done")).isFalse();
        assertThat(desk.held()).extracting(Hold::unit).containsExactly("w");
        assertThat(events)
                .filteredOn(event -> event.kind() == Kind.ANSWER_REFUSED)
                .extracting(event -> event.field("reason"))
                .containsExactly(
                        "nobody asked for it",
                        "it is for somebody else",
                        "late",
                        "late",
                        "late",
                        "nobody asked for it");
    }

    @Test
    void another_name_does_not_free_a_certificate() {
        assertThat(desk.owns("w", "CN=bench")).isTrue();
        assertThat(desk.owns("w", "CN=other")).isFalse();
        assertThat(desk.owns("w", "")).isTrue();
        for (String job : List.of("1", "2", "3")) {
            assertThat(desk.answered("w", job, "client", "done")).isFalse();
        }
        assertThat(desk.held()).extracting(Hold::unit).containsExactly("CN=bench");
        send("j", "a");
        Taker renamed = new Taker("v", "0", "emulator", Set.of("b"));
        assertThat(desk.owns("v", "CN=bench")).isTrue();
        assertThat(desk.mayTake(EMULATOR, "j")).isFalse();
        assertThat(desk.mayTake(renamed, "j")).isFalse();
        assertThat(desk.release("CN=bench")).isTrue();
        assertThat(desk.mayTake(renamed, "j")).isTrue();
    }

    @Test
    void a_jobs_life_is_told() {
        send("j", "a");
        desk.taken(EMULATOR, "j", 7);
        desk.left(EMULATOR, 8);
        now = now.plus(Duration.ofMillis(1500));
        desk.left(EMULATOR, 7);
        desk.taken(EMULATOR, "j", 9);
        desk.answered("w", "j", "client", "done");
        desk.finished("j", false);
        desk.sent(new Ticket("k", "c", "b", "emulator", new Ticket.Sort("run", "a", 4, Labels.NONE, "", ""), now));
        desk.notKept("k", "c");
        assertThat(desk.oldestSeconds()).isZero();
        assertThat(events)
                .extracting(event -> event.kind().text())
                .containsExactly("job_sent", "job_taken", "job_returned", "job_taken", "job_answered");
        assertThat(events.get(2).text())
                .isEqualTo("event=job_returned job=j kind=run board=b place=emulator project=a worker=w seconds=1.5");
        assertThat(FarmEvent.of(Kind.STRIKE).with("reason", "a \"b\"\nc").text())
                .isEqualTo("event=strike reason=\"a \\\"b\\\"\\nc\"");
    }
}
