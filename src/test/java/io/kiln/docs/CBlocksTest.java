// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Log;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.firmware.app.GraphData;
import io.kiln.flow.GestureProject;
import io.kiln.flow.build.GenerateStep.AudioInput;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalUnit;
import io.kiln.partition.PatternStep;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.reference.OwnModel;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The C of the pages compiles, with the headers that Kiln generates for models such as the page's, and with those that come with Kiln. */
class CBlocksTest {
    private static final String STATEMENTS = "statements of a function";

    /** What the text of a page has declared before its block. */
    private static final Map<String, String> BEFORE = Map.of(
            "from-sound.md",
            """
            #include <tvmgen_kws_preprocess.h>
            extern const int16_t *samples;
            extern uint32_t count;
            extern int8_t row[];
            static struct tvmgen_kws_preprocess state;
            """,
            "operators.md",
            """
            #include <tvmgen_default.h>
            extern struct tvmgen_default_inputs inputs;
            extern struct tvmgen_default_outputs outputs;
            int32_t tvmgen_default_reset(void);
            """,
            "own-c.md",
            "static int8_t input[4096], output[4096];\n",
            "update-models.md",
            """
            #include <stddef.h>
            #include "kiln_update.h"
            #include "kiln_slots.h"
            extern uint8_t data[512];
            size_t receive(uint8_t* into);
            extern const struct kiln_flash flash;
            """,
            "your-accelerator.md",
            """
            #include <tvmgen_gesture.h>
            #define VECU_BASE 0x40000000u
            extern struct tvmgen_gesture_inputs inputs;
            extern struct tvmgen_gesture_outputs outputs;
            """);

    @TempDir
    private Path folder;

    @BeforeEach
    void needsACompiler() {
        TestPrograms.need("cc");
    }

    @Test
    void everyBlockCompiles() throws IOException {
        headers();
        List<DocBlock> blocks = DocBlock.toCheck("c");
        assertThat(blocks).hasSizeGreaterThan(10);
        List<String> files = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            DocBlock block = blocks.get(i);
            String file = "block_" + i + ".c";
            Files.writeString(folder.resolve(file), "#include <stdint.h>\n" + source(block));
            files.add(file);
        }
        List<String> line = new ArrayList<>(List.of(
                "-std=c99",
                "-fsyntax-only",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-unused-variable",
                "-Wno-unused-function",
                "-Wno-int-to-pointer-cast"));
        for (String include : List.of(
                "src/main/resources/crt/include",
                "src/main/resources/update",
                "src/main/resources/unit",
                "toolchains/boards/common",
                "toolchains/boards/riscv",
                "toolchains/boards/hifive1-revb")) {
            line.add("-I" + Path.of(include).toAbsolutePath());
        }
        line.add("-I.");
        line.addAll(files);
        ProcessResult result =
                ProcessRunner.run(Command.of("cc", line).in(folder).within(Duration.ofMinutes(1)));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }

    /** A block as a file, whose lines are called as they are on the page. */
    private static String source(DocBlock block) {
        String before = BEFORE.getOrDefault(block.page(), "");
        String place = "#line " + block.line() + " \"" + block.page() + "\"\n";
        if (!block.as().filter(STATEMENTS::equals).isPresent()) {
            return before + place + block.text();
        }
        StringBuilder includes = new StringBuilder();
        StringBuilder statements = new StringBuilder();
        block.text()
                .lines()
                .forEach(text -> (text.startsWith("#include") ? includes : statements)
                        .append(text)
                        .append('\n'));
        return includes + before + "void page(void);\nvoid page(void) {\n" + place + statements + "}\n";
    }

    private void headers() throws IOException {
        write(ModelCompiler.compile(RequestDraft.of(GestureProject.MODEL, "c").build())
                .library());
        ModelLibrary graph = ModelCompiler.compile(RequestDraft.of(GestureProject.MODEL, "c")
                        .name("gesture")
                        .executor(ExecutorKind.GRAPH)
                        .linked(false)
                        .build())
                .library();
        Files.writeString(
                folder.resolve(GraphData.header("gesture")),
                GraphData.of(graph, false).headerText().text());
        write(ModelCompiler.compile(RequestDraft.of(GestureProject.MODEL, "vecu, c")
                        .name("gesture")
                        .codegens(List.of(new Unit()))
                        .build())
                .library());
        Files.writeString(folder.resolve("mean.h"), "int mean(const int* numbers, int count);\n");
        String settings = "kiln_settings.h";
        Files.writeString(
                folder.resolve(settings),
                Boards.builtIn().find("hifive1-revb").files().get(settings).text());
        write(digits());
        write(gestures());
        write(keywords());
    }

    private void write(ModelLibrary library) throws IOException {
        for (Artifact file : library.artifacts().artifacts()) {
            if (file.fileName().endsWith(".h")) {
                Files.writeString(folder.resolve(file.fileName()), file.text());
            }
        }
    }

    /** An input `image` and an output `probabilities` of int8, as the page about PyTorch has them. */
    private static ModelLibrary digits() {
        ModelBuilder model = new ModelBuilder(17);
        model.input("image", ElementType.INT8, List.of(1, 1, 12, 12));
        model.node("MaxPool", List.of("image"), "probabilities", Map.of("kernel_shape", List.of(2L, 2L)));
        model.output("probabilities", ElementType.INT8);
        return compiled(model, "digits");
    }

    /** A classifier with names of classes. */
    private static ModelLibrary gestures() {
        ModelBuilder model = new ModelBuilder(17).learning(3);
        model.input("x", ElementType.FLOAT, List.of(1, 2));
        model.node(
                "ai.onnx.ml",
                "LinearClassifier",
                List.of("x"),
                List.of("label", "scores"),
                Map.of(
                        "coefficients", List.of(1f, 2f, 3f, 4f, 5f, 6f),
                        "intercepts", List.of(0f, 0f, 0f),
                        "classlabels_strings", List.of("up", "down", "left"),
                        "post_transform", "SOFTMAX"));
        model.output("label", ElementType.STRING, List.of(1));
        model.output("scores", ElementType.FLOAT);
        return compiled(model, "gestures");
    }

    private static ModelLibrary compiled(ModelBuilder model, String name) {
        return ModelCompiler.compile(
                        RequestDraft.of(Path.of(name + ".onnx"), "c").name(name).build(),
                        OnnxFrontend.read(model.build(), name + ".onnx", name, InputShapes.NONE))
                .library();
    }

    /** The page's own description of the signal processing, before a model that takes its features. */
    private ModelLibrary keywords() throws IOException {
        DocBlock page = DocBlock.of("yaml").stream()
                .filter(block -> block.page().equals("from-sound.md"))
                .findFirst()
                .orElseThrow();
        Path description = Files.writeString(folder.resolve("kws.preprocess.yaml"), page.text());
        Path model = OwnModel.KEYWORDS.model();
        return AudioInput.before(
                new ModelSource(model, "kws", GivenInputs.NONE, "", Optional.of(description), Optional.empty()),
                ModelCompiler.compile(RequestDraft.of(model, "c").name("kws").build())
                        .library(),
                Log.QUIET);
    }

    /** A unit as that of the page "Your accelerator in Kiln": it takes convolutions, and has a driver. */
    private static final class Unit implements ExternalCodegen {
        @Override
        public String name() {
            return "vecu";
        }

        @Override
        public boolean hasDevice() {
            return true;
        }

        @Override
        public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
            List<PatternStep> steps = List.of(PatternStep.named("qnn.dense"), PatternStep.named("nn.bias_add"));
            return List.of(new CompositePattern("vecu.dense", steps, List.of()));
        }

        @Override
        public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
            return ExternalCall.plain("unit");
        }

        @Override
        public List<Artifact> generate(ExternalUnit unit) {
            StringBuilder text = new StringBuilder();
            unit.functions()
                    .forEach(function -> text.append("int32_t ")
                            .append(function.symbol())
                            .append('(')
                            .append(String.join(", ", ExternalCall.plain("unit").parameters(function)))
                            .append(") { return 0; }\n"));
            return List.of(Artifact.ofText("vecu", ArtifactKind.SOURCE, unit.file() + ".c", text.toString()));
        }
    }
}
