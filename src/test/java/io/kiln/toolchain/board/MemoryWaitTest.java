// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.toolchain.board.Board.AlternativeWait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MemoryWaitTest {
    private static final String GOOD = """
            schema: 1
            id: mine
            extends: nucleo-f446re
            memories:
              - name: flash
                kind: rom
                base: 0x08000000
                size: 512K
                wait: {states: 4, lineBytes: 16, prefetch: true,
                       fetch: {lines: 64, lineBytes: 32, ways: 2, sectorBytes: 16}, data: {lines: 8, lineBytes: 16, ways: 0}, missCycles: [4, 7, 9]}
              - {name: sram, kind: ram, base: 0x20000000, size: 128K, fetch: code-bus}
            clock: {hertz: 150000000}
            """;

    @TempDir
    private Path boards;

    @Test
    void stallsAreBoundedByLinesBranchesAndLoads() {
        // 100 lines of 8 bytes, each three cycles late, 10 branches and 20 loads.
        assertThat(new MemoryWait(3, 8, false).stallsAtMost(800, 10, 20)).isEqualTo(300 + 90);
        // The next line is read while two instructions are executed.
        assertThat(new MemoryWait(3, 8, true).stallsAtMost(800, 10, 20)).isEqualTo(100 + 90);
        assertThat(new MemoryWait(3, 32, true).stallsAtMost(800, 10, 20)).isEqualTo(90);
        assertThat(new MemoryWait(0, 4, false).stallsAtMost(800, 10, 20)).isZero();
    }

    /** As the chips' reference manuals state them for the clock that the start-up code sets. */
    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, 5, 8, true, 1024, 32",
        "nucleo-f446re, 5, 16, true, 1024, 16",
        "stm32f4-discovery, 5, 16, true, 1024, 16",
        "b-u585i-iot02a, 4, 16, true, 8192, 16",
        "nucleo-f746zg, 5, 32, false, 4096, 32",
        "nucleo-h743zi, 5, 32, false, 16384, 32",
        "nrf52840-dk, 2, 16, false, 2048, 16",
        "raspberry-pi-pico, 256, 8, false, 16384, 8",
        "hifive1-revb, 240, 4, false, 16384, 32",
        "microbit, 0, 4, false, 0, 0",
        "stm32f405, 0, 16, false, 0, 0"
    })
    void theBoardsFlashSaysItsWaitStatesAndHowLargeALoopMayBe(
            String id, int states, int lineBytes, boolean prefetch, int loopBytes, int loopLineBytes) {
        Board board = Boards.builtIn().find(id);
        MemoryWait wait = board.constants().flatMap(Board.Memory::waits).orElseThrow();
        assertThat(new MemoryWait(wait.states(), wait.lineBytes(), wait.prefetch()))
                .isEqualTo(new MemoryWait(states, lineBytes, prefetch));
        assertThat(board.loopBytes().orElse(0)).isEqualTo(loopBytes);
        assertThat(board.loopLineBytes().orElse(0)).isEqualTo(loopLineBytes);
    }

    @ParameterizedTest
    @CsvSource({"nucleo-l4r5zi, 1024", "b-u585i-iot02a, 4096", "nucleo-f746zg, 4096", "microbit, 0"})
    void aLoopLeavesHalfOfACacheToConstantsThatShareIt(String id, int bytes) {
        assertThat(Boards.builtIn().find(id).loopBudget().orElse(0)).isEqualTo(bytes);
    }

    @Test
    void cachesAndTheirPricesAreRead() throws IOException {
        assertThat(mine(GOOD).memory("flash").flatMap(Board.Memory::waits))
                .contains(new MemoryWait(
                        4,
                        16,
                        true,
                        Optional.of(new Cache(64, 32, 2, 16)),
                        Optional.of(new DataCache.Own(new Cache(8, 16, 0, 16))),
                        Optional.of(new CycleRange(4, 7, 9))));
        assertThat(mine(GOOD.replace("data: {lines: 8, lineBytes: 16, ways: 0}", "shared: true"))
                        .memory("flash")
                        .flatMap(Board.Memory::waits)
                        .flatMap(MemoryWait::data))
                .contains(new DataCache.Shared());
        assertThat(mine(GOOD).memory("sram").flatMap(Board.Memory::fetch)).contains(Board.CodeFetch.CODE_BUS);
    }

    @Test
    void otherSettingsHaveATitleAndAClock() throws IOException {
        String alternatives = GOOD.replace("    size: 512K\n", """
                    size: 512K
                    alternatives:
                      - {title: slow, hertz: 84000000, wait: {states: 2, lineBytes: 16}}
                      - {title: wide, wait: {states: 4, lineBytes: 32, fetch: {lines: 62, lineBytes: 32, ways: 2}}}
                """);
        assertThat(problems(alternatives))
                .singleElement()
                .satisfies(problem -> assertThat(problem.text()).contains("62 lines are no sets of 2 ways"));
        assertThat(mine(alternatives.replace("62", "64"))
                        .memory("flash")
                        .orElseThrow()
                        .alternatives())
                .containsExactly(
                        new AlternativeWait("slow", OptionalLong.of(84_000_000), new MemoryWait(2, 16, false)),
                        new AlternativeWait(
                                "wide",
                                OptionalLong.empty(),
                                new MemoryWait(
                                        4,
                                        32,
                                        false,
                                        Optional.of(new Cache(64, 32, 2, 32)),
                                        Optional.empty(),
                                        Optional.empty())));
    }

    @Test
    void everythingThatIsWrongWithThemIsSaidAtOnce() {
        String wrong = GOOD.replace("lines: 64, lineBytes: 32", "lines: 62, lineBytes: 8")
                .replace("prefetch: true", "shared: true, prefetch: true")
                .replace("[4, 7, 9]", "[4, 3, 9]")
                .replace("size: 512K", "size: 512K\n    fetch: tcm");
        assertThat(problems(wrong))
                .extracting(Problem::text)
                .hasSize(5)
                .anyMatch(text -> text.contains("a sector is larger than its line; expected at most 8"))
                .anyMatch(text -> text.contains("62 lines are no sets of 2 ways"))
                .anyMatch(text -> text.contains("constants have two caches; expected either data or shared: true"))
                .anyMatch(text -> text.contains("the cycles are not in order"))
                .anyMatch(text -> text.contains("the memory is read-only, and says how it fetches code"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lines: 8 | lines: 0",
                "lines: 8 | lines: 1000000000000",
                "lineBytes: 16, ways | lineBytes: 24, ways",
                "ways: 0 | ways: -1",
                "ways: 0 | ways: two",
                "[4, 7, 9] | [4, 7]",
                "[4, 7, 9] | [4, 7, 10001]",
                "[4, 7, 9] | 7",
                "states: 4 | states: 10001",
                "prefetch | fetchpre",
                "code-bus | bus"
            })
    void hostileValuesAreRefused(String part, String instead) {
        assertThat(GOOD).contains(part);
        assertThat(problems(GOOD.replace(part, instead)))
                .singleElement()
                .extracting(Problem::where)
                .asString()
                .contains("board.yaml:");
    }

    @Test
    void pricesAndCachesBelongTogether() {
        String noFetch = GOOD.replace("fetch: {lines: 64, lineBytes: 32, ways: 2, sectorBytes: 16}, ", "");
        String none = noFetch.replace(" data: {lines: 8, lineBytes: 16, ways: 0},", "");
        assertThat(problems(none))
                .singleElement()
                .satisfies(problem -> assertThat(problem.text())
                        .contains("lines are missing in no cache; expected the key fetch or data beside it"));
        assertThat(problems(noFetch.replace("data: {lines: 8, lineBytes: 16, ways: 0}", "shared: true")))
                .singleElement()
                .satisfies(problem ->
                        assertThat(problem.text()).contains("a cache is shared that the memory does not have"));
        // Without a price of their own, misses are reads of lineBytes.
        assertThat(problems(GOOD.replace(", missCycles: [4, 7, 9]", "").replace("sectorBytes: 16", "sectorBytes: 32")))
                .singleElement()
                .satisfies(problem -> assertThat(problem.text())
                        .contains("a miss reads 32 bytes, and an access 16; expected sectorBytes: 16"));
    }

    private Board mine(String yaml) throws IOException {
        Path folder = Files.createDirectories(boards.resolve("mine"));
        Files.writeString(folder.resolve("board.yaml"), yaml);
        return Boards.builtIn().with(boards).find("mine");
    }

    private List<Problem> problems(String yaml) {
        KilnException thrown = catchThrowableOfType(KilnException.class, () -> mine(yaml));
        assertThat(thrown).as(yaml).isNotNull();
        return thrown.problems();
    }
}
