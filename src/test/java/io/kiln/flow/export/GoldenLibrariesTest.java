// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.module.host.HostModel;
import io.kiln.module.host.HostModel.HostTensor;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Golden models in libraries for this computer, of C and of objects, answer Java programs; all with {@code -Dkiln.golden=all}. */
@NeedsShared("golden")
class GoldenLibrariesTest {
    private static final int SHARES = 30;

    @TempDir
    private Path folder;

    static Stream<Arguments> models() {
        return Stream.concat(share(0, "c"), share(SHARES / 2, "llvm"));
    }

    /** One model if the golden models are not there, so that the test is skipped and says why. */
    private static Stream<Arguments> share(int share, String target) {
        List<String> models = GoldenModels.share(share, SHARES);
        return (models.isEmpty() ? GoldenModels.INTEGER.subList(0, 1) : models)
                .stream().map(model -> Arguments.of(model, target));
    }

    @ParameterizedTest
    @MethodSource("models")
    void aJavaProgramGetsTheGoldenAnswer(String golden, String target) throws IOException {
        String name = golden.toLowerCase(Locale.ROOT);
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), name),
                        List.of(new ModelSource(GoldenModels.model(golden), name)),
                        "host")
                .target(target)
                .build();
        Path library = new LibraryExport(Log.QUIET, spec, TestToolchains.environment(Log.QUIET), false)
                .run()
                .get(0);
        try (HostModel model = HostModel.load(library, name)) {
            ByteArrayOutputStream answers = new ByteArrayOutputStream();
            model.run(inputs(
                            model,
                            Files.readAllBytes(GoldenModels.folder(golden).resolve("input_0.bin"))))
                    .forEach(output -> answers.writeBytes(output.toArray()));
            Path expected = GoldenModels.folder(golden).resolve("output_0.bin");
            assertThat(GoldenModels.agree(
                            Bytes.wrap(Files.readAllBytes(expected)),
                            Bytes.wrap(answers.toByteArray()),
                            model.outputs().stream()
                                    .map(GoldenLibrariesTest::type)
                                    .toList()))
                    .isTrue();
        }
    }

    private static TensorType type(HostTensor tensor) {
        return new TensorType(Shape.of(tensor.bytes() / tensor.dtype().bytes()), tensor.dtype());
    }

    /** The inputs lie one behind the other in the file. */
    private static List<Bytes> inputs(HostModel model, byte[] file) {
        List<Bytes> inputs = new ArrayList<>();
        int at = 0;
        for (HostTensor tensor : model.inputs()) {
            inputs.add(Bytes.wrap(Arrays.copyOfRange(file, at, at + tensor.bytes())));
            at += tensor.bytes();
        }
        assertThat(at).isEqualTo(file.length);
        return inputs;
    }
}
