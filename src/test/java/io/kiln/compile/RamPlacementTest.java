// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.base.KilnException;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.executor.PlannedModule;
import io.kiln.frontend.tflite.SeededNet;
import io.kiln.frontend.tflite.SeededNet.Value;
import io.kiln.lower.LoweredOperator;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.stream.Program.Step;
import io.kiln.target.SpareRam;
import io.kiln.target.SpareRam.RamShare;
import io.kiln.target.SpareRam.Reads;
import io.kiln.tir.PrimFunc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is copied to RAM saves more for its bytes than what is not, and never takes more than there is. */
class RamPlacementTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final String TARGET = "c -keys=arm_cpu,cpu -mcpu=cortex-m4";
    private static final Reads WAITING = new Reads(5, 8, 64);
    private static final SpareRam SPARE = new SpareRam(8 << 10, 128 << 10, false, WAITING, WAITING);

    @Test
    void flashWithoutWaitsKeepsAll() {
        CompiledModel usual = ModelCompiler.compile(
                RequestDraft.of(MODEL, TARGET).name("gesture").build());
        CompiledModel free = compiled(new SpareRam(8 << 10, 128 << 10, true, Reads.FREE, Reads.FREE), RamOptions.AUTO);
        assertThat(texts(free)).isEqualTo(texts(usual));
        assertThat(free.library().metadata().memory().copies()).isEqualTo(RamCopies.NONE);
        assertThat(texts(compiled(SPARE, RamOptions.NONE))).isEqualTo(texts(usual));
    }

    @Test
    void whatSavesMostForItsBytesIsCopied() {
        CompiledModel model = compiled(SPARE, RamOptions.AUTO);
        Map<String, LoweredOperator> operators = new HashMap<>();
        model.module().operators().forEach(op -> operators.put(op.function().name(), op));
        double least = Double.MAX_VALUE;
        long saved = 0;
        long bytes = 0;
        List<PrimFunc> functions = model.code().functions().stream()
                .filter(function -> operators.containsKey(function.name()))
                .toList();
        for (PrimFunc function : functions) {
            for (PrimFunc.Table table : function.constants()) {
                long reads = operators
                        .get(function.name())
                        .lineReads(table.data().size(), WAITING.lineBytes(), WAITING.cacheBytes());
                if (table.pool().isPresent()) {
                    saved += 5 * reads;
                    bytes += (table.data().size() + 15) & -16;
                    least = Math.min(least, 5.0 * reads / table.data().size());
                }
            }
        }
        RamCopies copies = model.library().metadata().memory().copies();
        assertThat(bytes).isPositive().isLessThanOrEqualTo(8 << 10).isEqualTo(copies.constantBytes());
        assertThat(saved).isEqualTo(copies.savedCycles());
        assertThat(least).isGreaterThanOrEqualTo(0.4);
        assertThat(copies.codeBytes()).as("code in RAM is not faster").isZero();
    }

    /** Compared with all choices that there are: a small table that saves more for each of its bytes does not keep a large one out. */
    @Test
    void noChoiceOfTablesSavesMore() {
        Map<String, long[]> tables = tables();
        assertThat(tables).hasSizeBetween(5, 16);
        List<long[]> all = List.copyOf(tables.values());
        int larger = 0;
        for (int room = 256; room <= 6 << 10; room += 272) {
            long best = 0;
            for (int choice = 0; choice < 1 << all.size(); choice++) {
                long bytes = 0;
                long saved = 0;
                for (int i = 0; i < all.size(); i++) {
                    bytes += (choice >> i & 1) * all.get(i)[0];
                    saved += (choice >> i & 1) * all.get(i)[1];
                }
                best = bytes <= room ? Math.max(best, saved) : best;
            }
            RamCopies copies = compiled(new SpareRam(room, 128 << 10, false, WAITING, WAITING), RamOptions.AUTO)
                    .library()
                    .metadata()
                    .memory()
                    .copies();
            assertThat(copies.savedCycles()).as("%d bytes", room).isEqualTo(best);
            assertThat(copies.constantBytes()).isLessThanOrEqualTo(room);
            larger += best > byRate(all, room) ? 1 : 0;
        }
        assertThat(larger)
                .as("rooms where the best ones for each byte leave a gap")
                .isPositive();
    }

    /** Bytes and saved cycles of each table that is worth its copy. */
    private static Map<String, long[]> tables() {
        CompiledModel model = compiled(SPARE, RamOptions.NONE);
        Map<String, LoweredOperator> operators = new HashMap<>();
        model.module().operators().forEach(op -> operators.put(op.function().name(), op));
        Map<String, long[]> tables = new TreeMap<>();
        for (PrimFunc function : model.code().functions()) {
            for (PrimFunc.Table table :
                    operators.containsKey(function.name()) ? function.constants() : List.<PrimFunc.Table>of()) {
                long saved = 5
                        * operators.get(function.name()).lineReads(table.data().size(), 8, 64);
                tables.merge(table.symbol(), new long[] {(table.data().size() + 15) & -16, saved}, (one, other) ->
                        new long[] {one[0], one[1] + other[1]});
            }
        }
        tables.values().removeIf(table -> table[1] < 0.4 * table[0]);
        return tables;
    }

    /** What is saved by taking those first that save most for each byte. */
    private static long byRate(List<long[]> tables, long room) {
        long left = room;
        long saved = 0;
        for (long[] table : tables.stream()
                .sorted(Comparator.comparingDouble(table -> -(double) table[1] / table[0]))
                .toList()) {
            saved += table[0] <= left ? table[1] : 0;
            left -= table[0] <= left ? table[0] : 0;
        }
        return saved;
    }

    @Test
    void aTableIsReadAnewInEachPassIfTheCacheDoesNotHoldIt() {
        LoweredOperator convolution = compiled(SPARE, RamOptions.NONE).module().operators().stream()
                .filter(op -> op.schedule().startsWith("dsp_conv"))
                .findFirst()
                .orElseThrow();
        assertThat(convolution.passes()).isGreaterThan(1);
        assertThat(convolution.lineReads(84, 8, 100)).isEqualTo(11);
        assertThat(convolution.lineReads(85, 8, 100)).isEqualTo(11 * convolution.passes());
        assertThat(convolution.lineReads(256, 8, 256))
                .as("a table that fills the cache leaves no line to what else is read")
                .isEqualTo(32 * convolution.passes());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 300, 2000})
    void neverMoreThanWasAskedFor(int most) {
        RamShare share = RamShare.of("kiln.ram.weights", String.valueOf(most));
        assertThat(share).isEqualTo(new RamShare(RamShare.Kind.SOME, OptionalLong.of(most)));
        CompiledModel model = compiled(SpareRam.NONE, new RamOptions(share, share));
        RamCopies copies = model.library().metadata().memory().copies();
        assertThat(copies.constantBytes()).isLessThanOrEqualTo(most);
        assertThat(copies.codeBytes()).isLessThanOrEqualTo(most);
        assertThat(texts(model).contains("KILN_RAM")).isEqualTo(most >= 300);
    }

    /** A dense layer reads each weight once, so that a byte saves little; a model of them may take a part of its weights for it. */
    @Test
    void whatIsReadOnceIsCopiedWhereThatOutweighsTheCopying(@TempDir Path folder) throws IOException {
        SeededNet net = new SeededNet(1);
        Value input = net.input("spectrum", 0.02, 3, 1, 512);
        Value narrow = net.dense(net.dense(input, 256, true), 64, true);
        Path model = Files.write(folder.resolve("coder.tflite"), net.build(net.dense(narrow, 256, false), input));
        long weights = 512 * 256 + 2 * 256 * 64;
        RamCopies copies = dense(model, 5, 8);
        assertThat(copies.constantBytes()).isBetween(12L << 10, weights / 7);
        assertThat(copies.savedCycles()).isBetween(copies.constantBytes() / 2, copies.constantBytes());
        assertThat(dense(model, 5, 16).constantBytes())
                .as("too little for each byte")
                .isZero();
    }

    private static RamCopies dense(Path model, int states, int lineBytes) {
        Reads reads = new Reads(states, lineBytes, 256);
        SpareRam spare = new SpareRam(32 << 10, 640 << 10, false, reads, reads);
        return ModelCompiler.compile(RequestDraft.of(model, TARGET)
                        .name("coder")
                        .ram(spare, RamOptions.AUTO)
                        .build())
                .library()
                .metadata()
                .memory()
                .copies();
    }

    @Test
    void withoutRoomBesideTheWorkspaceNothingIsCopied() {
        long workspace = compiled(SPARE, RamOptions.NONE).library().metadata().workspaceBytes();
        SpareRam full = new SpareRam(8 << 10, workspace + (8 << 10), false, WAITING, WAITING);
        CompiledModel model = compiled(full, RamOptions.AUTO);
        assertThat(texts(model)).doesNotContain("KILN_RAM");
        assertThat(model.library().metadata().memory().copies().nextSavedCycles())
                .isPositive();
    }

    @Test
    void kernelsLargerThanTheCacheOfCodeAreCopiedWhereCodeInRamIsFaster() {
        SpareRam small = new SpareRam(8 << 10, 128 << 10, true, Reads.FREE, WAITING);
        RamCopies copies =
                compiled(small, RamOptions.AUTO).library().metadata().memory().copies();
        assertThat(copies.codeBytes()).isBetween(64L, 8L << 10);
        SpareRam large = new SpareRam(8 << 10, 128 << 10, true, Reads.FREE, new Reads(5, 8, 16 << 10));
        assertThat(compiled(large, RamOptions.AUTO)
                        .library()
                        .metadata()
                        .memory()
                        .copies())
                .isEqualTo(RamCopies.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "some", "-1", "16k", "16 K"})
    void whatIsNoShareIsRefused(String text) {
        assertThatThrownBy(() -> RamShare.of("kiln.ram.code", text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.ram.code is '" + text + "'")
                .hasMessageContaining("auto, none, all");
    }

    @Test
    @NeedsShared("golden/kws_ref_model")
    void operatorsComputeSeveralRowsInACallWhereWeightsWait() {
        Path model = SharedFolder.need("golden/kws_ref_model").resolve("model.tflite");
        SpareRam share = new SpareRam(32 << 10, 256 << 10, false, WAITING, WAITING);
        PlannedModule usual = planned(model, SpareRam.NONE);
        PlannedModule waiting = planned(model, share);
        assertThat(waiting.workspaceBytes())
                .isBetween(usual.workspaceBytes() + 1, usual.workspaceBytes() + share.forRows(true));
        assertThat(turns(waiting)).isPositive().isLessThan(turns(usual));
        SpareRam free = new SpareRam(32 << 10, 256 << 10, false, Reads.FREE, Reads.FREE);
        assertThat(turns(planned(model, free))).isEqualTo(turns(usual));
    }

    @Test
    void rowsTakeASmallPartOfWhatIsThere() {
        assertThat(new SpareRam(32 << 10, 256 << 10, false, WAITING, WAITING).forRows(true))
                .isEqualTo(4 << 10);
        assertThat(new SpareRam(32 << 10, 640 << 10, false, WAITING, WAITING).forRows(false))
                .isEqualTo(24 << 10);
        assertThat(new SpareRam(32 << 10, 16 << 10, false, WAITING, WAITING).forRows(true))
                .isEqualTo(1 << 10);
        assertThat(new SpareRam(32 << 10, 256 << 10, true, Reads.FREE, WAITING).forRows(true))
                .isZero();
    }

    private static int turns(PlannedModule module) {
        return module.program().steps().stream()
                .mapToInt(step ->
                        step instanceof Step.Stream stream ? stream.order().size() : 0)
                .sum();
    }

    private static PlannedModule planned(Path model, SpareRam spare) {
        return ModelCompiler.compile(RequestDraft.of(model, TARGET + " -i-cache-size=1024")
                        .name("kws")
                        .ram(spare, RamOptions.AUTO)
                        .build())
                .module();
    }

    private static CompiledModel compiled(SpareRam spare, RamOptions use) {
        return ModelCompiler.compile(
                RequestDraft.of(MODEL, TARGET).name("gesture").ram(spare, use).build());
    }

    private static String texts(CompiledModel model) {
        List<Artifact> files = model.library().artifacts().artifacts();
        return String.join(
                "\n", files.stream().map(file -> file.content().text()).toList());
    }
}
