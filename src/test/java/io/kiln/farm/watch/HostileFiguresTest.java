// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.Hold;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.state.FarmKeeper.WorkerNews;
import io.kiln.farm.state.FarmKeeper.WorkerNews.About;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Jobs;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Offered;
import io.kiln.farm.state.FarmKeeper.WorkerNews.Running;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.watch.StatusServer.FarmFigures;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Figures of a farm in which somebody says and asks what nobody should. */
class HostileFiguresTest {
    private static final int LONGEST_MILLIS = 20_000;

    private final FarmFigures figures = new FarmFigures(Optional.empty());

    @Test
    void those_who_begin_to_ask_and_do_not_go_on_keep_nobody_out() throws IOException {
        FarmAddress here = StatusServer.address(
                "http://localhost:0", FarmAddress.parse("tcp://localhost:0", FarmAccess.by("tea")));
        StatusServer.Content content = new StatusServer.Content(figures, List::of, () -> "{}", () -> "");
        List<Socket> silent = new ArrayList<>();
        try (StatusServer server = StatusServer.start(here, content, Duration.ofMillis(200))) {
            for (int i = 0; i < 40; i++) {
                silent.add(ask(server, "GET /health HTTP/1.1\r\n"));
            }
            // A busy computer may be too slow for the short limit once, not each time.
            String answer = "";
            for (int i = 0; i < 20 && answer.isEmpty(); i++) {
                try (Socket one = ask(server, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) {
                    answer = new String(one.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                }
            }
            assertThat(answer).endsWith("well\n");
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }

    private static Socket ask(StatusServer server, String text) throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.url().getPort());
        socket.setSoTimeout(LONGEST_MILLIS);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    @Test
    void what_workers_say_makes_few_labels() throws IOException {
        for (int round = 0; round < 3; round++) {
            figures.read(state(round));
        }
        figures.happened(FarmEvent.of(Kind.JOB_GIVEN_UP).with("kind", "kind\n").with("place", "place\n"));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        figures.write(out);
        List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines)
                .contains(
                        "kiln_farm_jobs_total{kind=\"none\",place=\"emulator\",result=\"given_up\"} 1.0",
                        "kiln_farm_workers{version=\"other\"} 100.0",
                        "kiln_farm_boards{state=\"leased elsewhere\"} 100.0",
                        "kiln_farm_running_jobs{place=\"emulator\"} 100.0");
        assertThat(lines)
                .filteredOn(line -> line.matches("kiln_farm_(workers|boards|running_jobs)\\{.*"))
                .hasSize(3);
    }

    static FarmState state(int round) {
        List<FarmState.Seen> workers = IntStream.range(100 * round, 100 * round + 100)
                .mapToObj(i -> new FarmState.Seen(
                        1,
                        new WorkerNews(
                                "w" + i,
                                new About("v\n" + i, "", "host", 1),
                                1,
                                new Jobs(0, 0),
                                List.of(new Offered("board", "core", "board", "probe", "state" + i, "")),
                                List.of(new Running("job", "board", "place" + i, 1)),
                                List.of())))
                .toList();
        List<Hold> held = List.of(new Hold("w0", "2026-11-30T00:00:00Z", true, "three wrong answers"));
        return new FarmState(
                "farm", "2026-11-30T00:00:00Z", new FarmState.Desk("1", 0, held), workers, List.of(), List.of());
    }
}
