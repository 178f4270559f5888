// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a function of the user's is told beside tensors: scales and options. */
class CustomOperatorContextTest {
    /** The model and the C of the scenario that a user's build is; {@code -Dkiln.update=true} writes the model anew. */
    private static final Path TOLD =
            Path.of("src", "it", "a-custom-operator-is-told-scales-and-options", "src", "main");

    private static final byte[] TOLD_OPTIONS = {3, (byte) 200, 7};

    @TempDir
    private Path folder;

    private Path toldModel(TensorSpec x, TensorSpec y, byte... options) {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int in = builder.tensor(x);
        int out = builder.tensor(y);
        Path file = folder.resolve("told.tflite");
        WholeFiles.write(
                file,
                builder.custom("Told", Bytes.wrap(options), new int[] {in}, out)
                        .inputs(in)
                        .outputs(out)
                        .build());
        return file;
    }

    private static CompiledModel compileTold(Path file, String passed) {
        CustomOperators told = CustomOperators.of(CustomOperators.parse("Told:told:told.h::" + passed));
        return ModelCompiler.compile(RequestDraft.of(file, "c -keys=cpu")
                .name("m")
                .customOperators(told)
                .build());
    }

    @Test
    void theFunctionGetsQuantizationAndOptionsWhereItAsksForThem() throws IOException {
        Path file = toldModel(TensorSpec.int8("x", 0.5f, 1, 1, 4), TensorSpec.int8("y", 0.25f, -3, 1, 4), TOLD_OPTIONS);
        Path shipped = TOLD.resolve(Path.of("model", "told.tflite"));
        if (Boolean.getBoolean("kiln.update")) {
            WholeFiles.write(shipped, Files.readAllBytes(file));
        }
        assertThat(shipped).hasSameBinaryContentAs(file);
        CompiledModel compiled = compileTold(shipped, "quantization,options");
        List<Artifact> files = new ArrayList<>(compiled.library().artifacts().artifacts());
        for (String name : List.of("told.c", "told.h")) {
            ArtifactKind kind = name.endsWith(".c") ? ArtifactKind.SOURCE : ArtifactKind.HEADER;
            String text = Files.readString(TOLD.resolve(Path.of("c", name)));
            files.add(Artifact.ofText("c", kind, name, text));
        }
        HostProgram program =
                HostProgram.build(folder, List.of(compiled.library().metadata()), List.of(files));
        assertThat(program.run(List.of(CustomOperatorTest.bytes(1, 2, 3, -4))))
                .isEqualTo(CustomOperatorTest.bytes(-3, 3, 9, -33));
        Function function = compiled.imported();
        String text = RelayPrinter.astext(function);
        Path relay = folder.resolve("told.relay");
        WholeFiles.write(relay, text);
        assertThat(RelayPrinter.astext(RelayFrontend.read(relay, "m", InputShapes.NONE)))
                .isEqualTo(text)
                .contains("options_size=3");
    }

    /** C has no empty tables, so that there is a byte to point to, and a size of 0. */
    @Test
    void noOptionsHaveASizeOfNothing() {
        Path file = toldModel(TensorSpec.int8("x", 0.5f, 1, 1, 4), TensorSpec.int8("y", 0.25f, -3, 1, 4));
        assertThat(CustomOperatorTest.source(compileTold(file, "options")))
                .contains("int32_t told(const int8_t* input0, int8_t* output0, const uint8_t* options, int32_t"
                        + " options_size);\n")
                .containsPattern("told\\(input, output, \\w+, 0\\)");
        assertThat(CustomOperatorTest.source(compileTold(file, "")))
                .contains("int32_t told(const int8_t* input0, int8_t* output0);\n")
                .contains("told(input, output)");
    }

    @Test
    void scalesPerChannelAreMoreThanAFunctionGets() {
        TensorSpec perChannel = TensorSpec.int8("x", 0.5f, 1, 1, 4).quantized(new float[] {1, 2, 3, 4}, new long[4], 1);
        Path file = toldModel(perChannel, TensorSpec.int8("y", 0.25f, -3, 1, 4));
        assertThatThrownBy(() -> compileTold(file, "quantization"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("`x` has 4 scales")
                .hasMessageContaining("operator #0 CUSTOM Told");
        assertThat(CustomOperatorTest.source(compileTold(file, "options"))).contains("options_size");
    }
}
