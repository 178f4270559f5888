// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Fingerprint.Made.Journal;
import io.kiln.base.incremental.Variants;
import io.kiln.base.incremental.Variants.Variant;
import io.kiln.cycles.core.CycleRange;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each component of each record that takes part in a build is changed; the step's fingerprint must change, or the component is listed here. */
final class EveryInputCountsTest {
    private static final String GENERATE = "generate";
    private static final String VERIFY = "verify";

    /** What does not influence a result, by result: the same components that {@code NoInput} names, which gives the reasons. */
    private static final Map<String, Set<String>> NO_INPUTS = Map.of(
            GENERATE,
            Set.of(
                    "Board.identity",
                    "Board.support",
                    "Board.hardware",
                    "ResolvedBuild.runsOn",
                    "ResolvedBuild.toolchain",
                    "BuildSpec.layout",
                    "ModelSource.vectors",
                    "MachineSpec.board",
                    "MachineSpec.toolchain",
                    "MachineSpec.boardSources",
                    "MachineSpec.update",
                    "RecordsSpec.own",
                    "RecordsSpec.shared",
                    "ImageSpec.code",
                    "ImageSpec.compilerFlags",
                    "ImageOptions.trusted",
                    "ImageSpec.semihosting",
                    "ImageSpec.verify",
                    "ImageSpec.farm",
                    "BoardIdentity.origin",
                    "NamedToolchain.where",
                    "VelaSpec.program",
                    "VelaSpec.version"),
            VERIFY,
            Set.of(
                    "ResolvedBuild.toolchain",
                    "ResolvedBuild.objects",
                    "BuildSpec.layout",
                    "BuildSpec.archive",
                    "MachineSpec.board",
                    "MachineSpec.toolchain",
                    "MachineSpec.boardSources",
                    "MachineSpec.update",
                    "RecordsSpec.own",
                    "RecordsSpec.shared",
                    "ImageSpec.code",
                    "ImageSpec.compilerFlags",
                    "ImageOptions.trusted",
                    "ImageSpec.farm",
                    "BoardIdentity.origin",
                    "BoardSupport.pack",
                    "NamedToolchain.where",
                    "VelaSpec.program",
                    "VelaSpec.version"));

    @TempDir
    Path folder;

    private Variants variants;
    private Object build;
    private List<Variant> changed;

    /** Their numbers are in order, which changing one of them would break. */
    private static final List<CycleRange> RANGES = List.of(new CycleRange(1, 2, 3), new CycleRange(2, 3, 4));

    @BeforeEach
    void aBuildInWhichNothingIsEmpty() throws IOException {
        ClangObjects objects = ClangObjects.of(
                "llvm -mtriple=thumbv7em-none-eabi -mcpu=cortex-m4",
                Optimize.SPEED,
                List.of(),
                TestToolchains.environment(Log.QUIET));
        variants = new Variants(Map.of(
                Path.class,
                Variants.twoFiles(folder),
                ClangObjects.class,
                List.of(objects, objects.optimizing(Optimize.SIZE)),
                PackSource.class,
                List.of(PackSource.NONE, PackSource.NONE),
                CycleRange.class,
                RANGES));
        build = variants.sample(ResolvedBuild.class);
        changed = variants.of(ResolvedBuild.class, build);
    }

    @Test
    void generatedCDependsOnEveryComponent() {
        everyComponentCounts(GENERATE);
    }

    @Test
    void aVerificationDependsOnEveryComponent() {
        everyComponentCounts(VERIFY);
    }

    private void everyComponentCounts(String result) {
        Map<String, String> before = parts(result, build);
        Set<String> unused = new HashSet<>(NO_INPUTS.get(result));
        List<String> wrong = new ArrayList<>();
        for (Variant variant : changed) {
            List<String> listed = variant.places().stream()
                    .filter(NO_INPUTS.get(result)::contains)
                    .toList();
            unused.removeAll(listed);
            if (parts(result, variant.value()).equals(before) == listed.isEmpty()) {
                wrong.add(String.join(" ", variant.places()));
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(unused).as("components that do not exist").isEmpty();
        assertThat(changed).hasSizeGreaterThan(200);
    }

    private static Map<String, String> parts(String result, Object value) {
        return Fingerprint.of(result).value("", value).parts();
    }

    /** A change of any depth must be among those that were tried. */
    @Test
    void boardsAndPassesAreChangedToTheirLeaves() {
        assertThat(changed)
                .extracting(variant -> variant.places().get(variant.places().size() - 1))
                .contains("Memory.size", "PoolMemories.constants", "BoardSupport.files", "ModelSlots.bytes")
                .contains("CustomOperator.function", "External.operators", "Limits.minSqnr", "ArchiveSpec.timestamp")
                .contains("Building.compile", "Qemu.machine", "ChipId.mask", "VerifySpec.seed");
    }

    /** Whatever a step makes is out of date when Kiln is built again, whether or not its version changes. */
    @Test
    void kilnItselfIsAnInput() {
        BuildSpec.Layout layout = new BuildSpec.Layout(folder, folder.resolve("out"), "net");
        Steps steps = new Steps(Log.QUIET, layout);
        assertThat(steps.run("Doing", Fingerprint.of("doing").value("it", 1), List::of))
                .isTrue();
        assertThat(steps.run("Doing", Fingerprint.of("doing").value("it", 1), List::of))
                .isFalse();
        assertThat(new Journal(layout.state("doing")).read("step").orElseThrow().inputs())
                .containsEntry("Kiln", PluginVersion.text());
        assertThat(PluginVersion.text()).matches(Pattern.quote(PluginVersion.released()) + " [0-9a-f]{12}");
    }

    @Test
    void whereFilesLieIsNoInput() throws IOException {
        Type type = ResolvedBuild.class;
        Variants elsewhere = new Variants(Map.of(
                Path.class,
                Variants.twoFiles(folder.resolve("some").resolve("where")),
                ClangObjects.class,
                List.of(((ResolvedBuild) build).objects().orElseThrow()),
                PackSource.class,
                List.of(PackSource.NONE, PackSource.NONE),
                CycleRange.class,
                RANGES));
        for (String result : List.of(GENERATE, VERIFY)) {
            assertThat(parts(result, elsewhere.sample(type))).isEqualTo(parts(result, build));
        }
    }
}
