// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.flow.farm.ScaledFarm.Told;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link FarmScale} in small: twenty boards, five hundred jobs of three projects, and a broker that is killed in the middle. */
final class FarmScaleTest {
    private static final int BOARDS = 20;
    private static final int JOBS = 500;
    private static final List<String> PROJECTS = List.of("large", "small", "needy");
    private static final Bytes IMAGE = Bytes.wrap(new byte[1000]);

    @TempDir
    private Path folder;

    private final Map<String, CompletableFuture<FarmResult>> results = new LinkedHashMap<>();

    private void submit(FarmClient client, String name, int jobs) {
        for (int i = 0; i < jobs; i++) {
            String text = name + i;
            results.put(text, client.submit(ScaledFarm.job(i % ScaledFarm.KINDS_OF_BOARDS, text, IMAGE)));
        }
    }

    private long done() {
        return results.values().stream().filter(CompletableFuture::isDone).count();
    }

    @Test
    void every_job_is_answered_once_and_projects_share_the_boards() throws Exception {
        List<Told> before;
        List<Told> after;
        try (ScaledFarm farm = new ScaledFarm(folder, 128)) {
            submit(farm.client(PROJECTS.get(0), 4, ""), PROJECTS.get(0), JOBS - 120);
            submit(farm.client(PROJECTS.get(1), 4, ""), PROJECTS.get(1), 80);
            submit(farm.client(PROJECTS.get(2), 4, "room=1"), PROJECTS.get(2), 40);
            farm.plug(BOARDS, () -> Duration.ofMillis(20));
            while (done() < JOBS / 2) {
                Thread.sleep(10);
            }
            before = farm.told();
            FarmClient urgent = farm.client("urgent", 9, "");
            farm.killBroker();
            submit(urgent, "urgent", 2);
            for (Map.Entry<String, CompletableFuture<FarmResult>> each : results.entrySet()) {
                assertThat(ScaledFarm.isRight(each.getValue().join().answer(), each.getKey()))
                        .as(each.getKey())
                        .isTrue();
            }
            // A worker acknowledges a job only after its answer is there.
            while (jobs(farm.told(), "job_answered").size() < JOBS + 2) {
                Thread.sleep(100);
            }
            after = farm.told();
        }
        assertThat(jobs(after, "job_answered")).hasSize(JOBS + 2);
        // Those whose end the killed broker had told, but not kept.
        assertThat(of(after, "job_answered")).hasSizeLessThanOrEqualTo(JOBS + 2 + BOARDS);
        assertThat(of(after, "job_given_up")).isEmpty();
        assertThat(of(after, "answer_refused")).isEmpty();
        shares(of(before, "job_taken"));
        assertThat(of(after, "job_taken"))
                .filteredOn(take -> take.project().equals("needy"))
                .extracting(Told::worker)
                .containsOnly("w2", "w3");
    }

    private static List<Told> of(List<Told> told, String kind) {
        return told.stream().filter(each -> each.kind().equals(kind)).toList();
    }

    private static Set<String> jobs(List<Told> told, String kind) {
        return of(told, kind).stream().map(Told::job).collect(Collectors.toSet());
    }

    /** Of two projects that wait for the same boards, neither is ahead by more jobs than there are boards, whichever came first. */
    private static void shares(List<Told> takes) {
        Map<String, Integer> counts = new HashMap<>();
        List<Integer> ahead = new ArrayList<>();
        for (Told take : takes) {
            counts.merge(take.project(), 1, Integer::sum);
            ahead.add(Math.abs(counts.getOrDefault("large", 0) - counts.getOrDefault("small", 0)));
            if (counts.getOrDefault("small", 0) == 80) {
                break;
            }
        }
        assertThat(counts.get("small"))
                .as(takes.stream().map(Told::project).collect(Collectors.joining(" ")))
                .isEqualTo(80);
        assertThat(ahead).allMatch(difference -> difference <= 2 * BOARDS);
    }
}
