// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.transform.PassOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user says about passes and shapes, from the import to the generated C. */
final class PassesFlowTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void thePassesAreInTheUsersHands() throws IOException {
        BuildSpec usual = new GestureProject(folder)
                .spec("mps2-an386")
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.generate(with(usual, PassOptions.DEFAULT, true, ""));
        Path ir = folder.resolve("out/kiln/ir");
        List<String> all = List.of(
                "00-import.relay",
                "01-fold-constants.relay",
                "02-simplify-reshapes.relay",
                "03-fold-padding.relay",
                "04-eliminate-dead-bindings.relay",
                "05-remove-constant-channels.relay",
                "06-fuse-operators.relay",
                "07-lower.tir");
        assertThat(files(ir)).isEqualTo(all);
        String fused = Files.readString(ir.resolve(all.get(6)));
        assertThat(fused).contains("// fused_qnn_conv2d_nn_bias_add_tfl_requantize");
        assertThat(Files.readString(ir.resolve(all.get(7))))
                .contains("// schedule ", "def tvmgen_gesture_fused_qnn_conv2d_", "def tvmgen_gesture___tvm_main__(");
        String c = source();

        changesAreSaid(usual, all, fused);
        assertThat(source()).isEqualTo(c);

        said.clear();
        flow.generate(usual);
        assertThat(said.get(0)).isEqualTo("Generating C: spec.compiler.dumpIr changed from 'true' to 'false'");
        assertThat(files(ir)).isEmpty();
        assertThat(source()).isEqualTo(c);
    }

    private void changesAreSaid(BuildSpec usual, List<String> all, String fused) throws IOException {
        Path ir = folder.resolve("out/kiln/ir");
        String c = source();
        said.clear();
        flow.generate(with(usual, new PassOptions(1, Set.of("simplify-reshapes")), true, ""));
        assertThat(said.get(0))
                .startsWith("Generating C: spec.compiler.options.passes.disabled changed")
                .contains("1 more");
        assertThat(files(ir)).hasSize(7).doesNotContain("02-simplify-reshapes.relay");
        assertThat(Files.readString(ir.resolve(all.get(6)))).doesNotContain("fused_qnn_conv2d_");
        assertThat(source()).isNotEqualTo(c);

        flow.generate(with(usual, PassOptions.DEFAULT, true, ""));
        assertThat(Files.readString(ir.resolve(all.get(6)))).isEqualTo(fused);
    }

    @Test
    void givenShapesAreBuiltAndVerifiedOrRefusedWithTheirPlace() throws IOException {
        TestPrograms.need("qemu-system-arm");
        GestureProject project = new GestureProject(folder);
        BuildSpec one = project.spec("mps2-an386")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0))
                .build();
        flow.build(with(one, PassOptions.DEFAULT, false, "acceleration:1,32,1,3"), DeviceSpec.USUAL);
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        // What stops the whole road leaves nothing green behind.
        assertThatThrownBy(() ->
                        flow.build(with(one, PassOptions.DEFAULT, false, "acceleration:3,32,1,3"), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class);
        assertThat(project.json("kiln/verify.json").path("passed").asBoolean()).isFalse();
        assertThat(project.json("kiln/verify.json").path("failure").asText()).contains("RESHAPE");
        assertThatThrownBy(() -> flow.generate(with(one, PassOptions.DEFAULT, false, "acceleration:3,32,1,3")))
                .hasMessageContaining("operator #4 RESHAPE")
                .hasMessageContaining("new shape [1, 12] does not fit");
        assertThatThrownBy(() -> flow.generate(with(one, new PassOptions(0, Set.of("x")), false, "acceleration")))
                .hasMessageContaining("kiln.fuse.maxDepth is 0")
                .hasMessageContaining("'x', which is not a pass")
                .hasMessageContaining("kiln.inputShapes has 'acceleration'");
    }

    /** {@code x} as often as the input {@code times} says; the model states a wrong shape for it. */
    @Test
    void inputsWithValuesAreNoInputsOfTheImage() throws IOException {
        ModelBuilder model = new ModelBuilder(17);
        model.input("x", ElementType.FLOAT, List.of(1, 4));
        model.input("times", ElementType.INT64, List.of(2));
        model.output(model.node("Tile", List.of("x", "times"), "y", Map.of()), ElementType.FLOAT, List.of(2, 4));
        Path file = folder.resolve("m.onnx");
        Files.write(file, model.build().toArray());
        BuildSpec usual = new GestureProject(folder)
                .spec("mps2-an386")
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.generate(times(usual, file, "times=[1, 3]"));
        Path header = folder.resolve("out/generated-sources/kiln/codegen/host/include/tvmgen_m.h");
        assertThat(Files.readString(header)).contains("TVMGEN_M_Y_SIZE 48").doesNotContain("TIMES");
        assertThat(said)
                .anyMatch(line -> line.contains("its output `y` is float(1, 12), but the model states float(2, 4)"));
        said.clear();
        flow.generate(times(usual, file, "times=[2, 1]"));
        assertThat(said.get(0)).startsWith("Generating C: spec.models").contains("values changed");
        assertThat(Files.readString(header)).contains("TVMGEN_M_Y_SIZE 32");
        assertThatThrownBy(() -> flow.generate(times(usual, file, "times")))
                .hasMessageContaining("kiln.inputValues has 'times'");
        assertThatThrownBy(() -> flow.generate(times(usual, GestureProject.MODEL, "times=1")))
                .hasMessageContaining("kiln.inputValues gives numbers for a model that is not ONNX");
    }

    private static BuildSpec times(BuildSpec spec, Path file, String values) {
        GivenInputs given = new GivenInputs("", values);
        return SpecDraft.of(spec)
                .models(List.of(new ModelSource(file, "m", given, "", Optional.empty(), Optional.empty())))
                .build();
    }

    private static BuildSpec with(BuildSpec spec, PassOptions passes, boolean dumpIr, String inputShapes) {
        ModelSource model = spec.models().get(0);
        return SpecDraft.of(spec)
                .models(List.of(new ModelSource(model.file(), model.name(), inputShapes)))
                .passes(passes)
                .dumpIr(dumpIr)
                .build();
    }

    private static List<String> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    private String source() throws IOException {
        return new GestureProject(folder).text("generated-sources/kiln/codegen/host/src/gesture_lib1.c");
    }
}
