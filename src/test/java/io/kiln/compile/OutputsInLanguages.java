// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.target.TestTargets;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/**
 * A program that compiles models in the language in which it was started, then in others, and prints a line for each file: language, model, core,
 * name, digest; and what is wrong with a board. Constants of classes are made in the first language.
 */
final class OutputsInLanguages {
    private static final Path GESTURE = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final List<String> TARGETS =
            List.of(TestTargets.M4, TestTargets.M55, TestTargets.RV32, TestTargets.HOST);

    private OutputsInLanguages() {}

    /**
     * Runs.
     *
     * @param arguments a folder for models; more languages
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        List<Path> models = List.of(
                GESTURE,
                Files.write(folder.resolve("chain.tflite"), ChainModel.write(5)),
                Files.write(folder.resolve("float.tflite"), floats()));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        print(models, "its own", out);
        for (String language : List.of(arguments).subList(1, arguments.length)) {
            Locale.setDefault(Locale.forLanguageTag(language));
            print(models, language, out);
        }
    }

    private static void print(List<Path> models, String language, PrintStream out) {
        Problems problems = new Problems(Failure.CONFIG);
        YamlDocument board =
                YamlDocument.parse("board.yaml", Bytes.ofText("schema: 10000\nid: 7\nmemories: []\nI: 1\n"));
        new YamlSchema("board.schema.json").check(board, problems);
        problems.list().forEach(problem -> out.println(language + "|" + problem.what()));
        for (Path model : models) {
            for (String target : TARGETS) {
                ModelLibrary library = ModelCompiler.compile(
                                RequestDraft.of(model, target).build())
                        .library();
                String key = language + "|" + model.getFileName() + "|" + target + "|";
                library.artifacts()
                        .artifacts()
                        .forEach(file -> out.println(key + file.fileName() + "|"
                                + Digests.sha256(file.content().toArray())));
                Bytes archive = ModelLibraryFormat.write(
                        List.of(library),
                        ModelLibraryFormat.Options.of(7, Optional.of(Instant.parse("2026-01-01T00:00:00Z")), "0"));
                out.println(key + "mlf.tar|" + Digests.sha256(archive.toArray()));
            }
        }
    }

    /** A float convolution whose activation has both limits. */
    private static byte[] floats() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int input = model.tensor(TensorSpec.float32("input", 1, 9, 9, 3));
        ByteBuffer weights = ByteBuffer.allocate(8 * 3 * 3 * 3 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (weights.hasRemaining()) {
            weights.putFloat(weights.position() * 1.25e-4f - 0.05f);
        }
        int filter = model.tensor(
                TensorSpec.of("filter", TensorType.FLOAT32, 8, 3, 3, 3).withData(weights.array()));
        int output = model.tensor(TensorSpec.float32("output", 1, 9, 9, 8));
        byte relu6 = 3;
        model.operator(
                BuiltinOperator.CONV_2D,
                1,
                Options.conv2d(Options.SAME, 1, 1, relu6, 1, 1),
                new int[] {input, filter},
                output);
        return model.inputs(input).outputs(output).build();
    }
}
