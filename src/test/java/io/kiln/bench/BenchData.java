// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.toolchain.yaml.YamlDocument;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is to be measured, as {@code rows.yaml} has it.
 *
 * @param toolchains ids
 * @param cores by name
 * @param models golden model by short name
 * @param instructions goals by short name, then by core
 * @param layers goals of made-up layers by core: a thousandth of a regular layer's cost for a multiply-accumulate
 * @param ram goals by short name
 * @param flash goals by short name
 * @param size goals of flash by short name, then by core
 * @param generate goals by short name, in milliseconds
 * @param zoo what is published of networks of ST's model zoo, by name
 * @param memoryCore the core that ram and flash are measured on
 * @param stackGoal bytes of stack that a run may take
 * @param speedAboveRam how far the RAM of {@code optimize=speed} may lie above that of {@code ram}, as a factor
 * @param ramCyclesOfSpeed how many times the cycles of {@code optimize=speed} {@code ram} may take
 * @param sizeCyclesOfSpeed the same for {@code size}
 * @param benchProgramBytes bytes of the peer's empty bench program, which its flash figures hold
 */
record BenchData(
        List<String> toolchains,
        Map<String, Core> cores,
        Map<String, String> models,
        Map<String, Map<String, Goal>> instructions,
        Map<String, Goal> layers,
        Map<String, Goal> ram,
        Map<String, Goal> flash,
        Map<String, Map<String, Goal>> size,
        Map<String, Goal> generate,
        Map<String, Published> zoo,
        String memoryCore,
        long stackGoal,
        double speedAboveRam,
        double ramCyclesOfSpeed,
        double sizeCyclesOfSpeed,
        long benchProgramBytes) {

    /**
     * A core.
     *
     * @param board the board whose memories and emulator are used
     * @param target target string; empty for the board's
     * @param instructionsPerTick instructions in a tick of the clock that the image reads, one instruction being one nanosecond
     * @param without a toolchain that does not know the core; empty if all do
     */
    record Core(String board, String target, double instructionsPerTick, String without) {
        Core {
            target = target == null ? "" : target;
            without = without == null ? "" : without;
        }
    }

    /**
     * What a table of ST's model zoo says of a network; bytes are in KiB.
     *
     * @param board the built-in board that has the core, the caches and the clock of ST's
     * @param activations with inputs and outputs
     * @param flash weights, code and run-time library
     * @param ram activations and run-time library
     */
    record Published(String board, double milliseconds, double weights, double activations, double flash, double ram) {}

    /** What a count shall not exceed, and the peer's count; 0 if that is not known. */
    record Goal(long goal, long peer) {}

    /** What a row counts. */
    enum Kind {
        INSTRUCTIONS,
        LAYERS,
        RAM,
        FLASH,
        /** Flash, too, on a core of its own. */
        SIZE,
        GENERATE
    }

    /** One line of the tables, with one toolchain if there is one; its id is what filters are compared with. */
    record Row(Kind kind, String model, String core, String toolchain, Goal goal) {
        /** Such as {@code kws-M4F-gnu}, {@code kws-ram-clang}, {@code vww-size-M3-gnu} or {@code vww-generate}. */
        String id() {
            String name = kind.name().toLowerCase(Locale.ROOT);
            String what = switch (kind) {
                case INSTRUCTIONS, LAYERS -> core;
                case SIZE -> name + "-" + core;
                case RAM, FLASH, GENERATE -> name;
            };
            return model + "-" + what + (toolchain.isEmpty() ? "" : "-" + toolchain);
        }

        /** Whether all parts of a filter such as {@code kws-m4f} are parts of the id; letter case does not count. */
        boolean matches(String filter) {
            List<String> parts = List.of(id().toLowerCase(Locale.ROOT).split("-"));
            return parts.containsAll(List.of(filter.toLowerCase(Locale.ROOT).split("-")));
        }
    }

    static BenchData load() {
        ObjectMapper mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
        try (InputStream in = BenchData.class.getResourceAsStream("rows.yaml")) {
            YamlDocument rows = YamlDocument.parse("rows.yaml", Bytes.copyOf(in.readAllBytes()));
            return mapper.treeToValue(rows.root(), BenchData.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rows without goals for a golden model that is not among those of the tables, one for each core and toolchain. */
    List<Row> rowsOf(String model) {
        return cores.keySet().stream()
                .flatMap(core -> toolchains(core).map(t -> new Row(Kind.INSTRUCTIONS, model, core, t, new Goal(0, 0))))
                .toList();
    }

    private Stream<String> toolchains(String core) {
        return toolchains.stream().filter(t -> !t.equals(cores.get(core).without()));
    }

    /** Every row, instructions first. */
    List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        instructions.forEach((model, byCore) -> byCore.forEach((core, goal) ->
                toolchains(core).forEach(t -> rows.add(new Row(Kind.INSTRUCTIONS, model, core, t, goal)))));
        layers.forEach((core, goal) ->
                toolchains.forEach(t -> rows.add(new Row(Kind.LAYERS, HardLayers.MODEL, core, t, goal))));
        ram.forEach((model, goal) -> toolchains.forEach(t -> rows.add(new Row(Kind.RAM, model, memoryCore, t, goal))));
        flash.forEach(
                (model, goal) -> toolchains.forEach(t -> rows.add(new Row(Kind.FLASH, model, memoryCore, t, goal))));
        size.forEach((model, byCore) -> byCore.forEach(
                (core, goal) -> toolchains.forEach(t -> rows.add(new Row(Kind.SIZE, model, core, t, goal)))));
        generate.forEach((model, goal) -> rows.add(new Row(Kind.GENERATE, model, "", "", goal)));
        return rows;
    }
}
