// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.Frontends;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Operators that C of the user's computes: the generated C calls it, and what nobody but C knows only vectors can prove. */
class CustomOperatorTest {
    private static final String HEADER = """
        #ifndef MY_OP_H
        #define MY_OP_H
        #include <stdint.h>
        int32_t my_op(const int8_t* input0, const int8_t* input1, const int8_t* input2, int8_t* output0, int8_t* output1);
        #endif
        """;
    private static final String SOURCE = """
        #include "my_op.h"
        int32_t my_op(const int8_t* input0, const int8_t* input1, const int8_t* input2, int8_t* output0, int8_t* output1) {
          for (int32_t i = 0; i < 4; ++i) {
            if (input0[i] == 100) {
              return 1;
            }
            output0[i] = (int8_t)(input0[i] + input1[i]);
            output1[i] = (int8_t)(input0[i] - input2[i]);
          }
          return 0;
        }
        """;
    private static final CustomOperators MY_OP = CustomOperators.of(CustomOperators.parse("MyOp:my_op:my_op.h"));

    @TempDir
    private Path folder;

    /** x; (a, b) = MyOp(x, constant, x); y = reshape(a), b. */
    private static TfliteModelBuilder model() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.int8("x", 1f, 0, 1, 4));
        int constant =
                builder.tensor(TensorSpec.int8("k", 1f, 0, 1, 4).withData((byte) 1, (byte) 2, (byte) 3, (byte) -4));
        int a = builder.tensor(TensorSpec.int8("a", 1f, 0, 1, 4));
        int b = builder.tensor(TensorSpec.int8("b", 1f, 0, 1, 4));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 0, 4));
        return builder.custom("MyOp", new int[] {x, constant, x}, a, b)
                .operator(BuiltinOperator.RESHAPE, 1, Options.reshape(4), new int[] {a}, y)
                .inputs(x)
                .outputs(y, b);
    }

    private Path file() {
        Path file = folder.resolve("model.tflite");
        WholeFiles.write(file, model().build());
        return file;
    }

    private CompiledModel compile(Optimize optimize, Io io) {
        return ModelCompiler.compile(RequestDraft.of(file(), "c -keys=cpu")
                .name("m")
                .io(io)
                .optimize(optimize)
                .customOperators(MY_OP)
                .build());
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void generatedCCallsTheFunction(Io io) {
        CompiledModel compiled = compile(Optimize.RAM, io);
        List<Artifact> files = new ArrayList<>(compiled.library().artifacts().artifacts());
        files.add(Artifact.ofText("c", ArtifactKind.SOURCE, "my_op.c", SOURCE));
        files.add(Artifact.ofText("c", ArtifactKind.HEADER, "my_op.h", HEADER));
        HostProgram program =
                HostProgram.build(folder, List.of(compiled.library().metadata()), List.of(files));
        Bytes answer = program.run(List.of(bytes(1, 2, 3, 4), bytes(-1, -2, -3, -4)));
        assertThat(answer).isEqualTo(bytes(2, 4, 6, 0, 0, 0, 0, 0, 0, 0, 0, -8, 0, 0, 0, 0));
    }

    /** The function gets whole tensors, however little memory there would be if rows were computed in turn. */
    @Test
    void theFunctionIsCalledOnceBetweenLayersThatTakeRows() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.int8("x", 1f, 0, 1, 16, 16, 4));
        int a = builder.tensor(TensorSpec.int8("a", 1f, 0, 1, 16, 16, 4));
        int b = builder.tensor(TensorSpec.int8("b", 1f, 0, 1, 16, 16, 4));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 0, 1, 8, 8, 4));
        builder.operator(BuiltinOperator.RELU, 1, Options.none(), new int[] {x}, a)
                .custom("MyOp", new int[] {a}, b)
                .operator(
                        BuiltinOperator.MAX_POOL_2D, 1, Options.pool((byte) 1, 2, 2, 2, 2, (byte) 0), new int[] {b}, y)
                .inputs(x)
                .outputs(y);
        Path file = folder.resolve("rows.tflite");
        WholeFiles.write(file, builder.build());
        CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(file, "c -keys=cpu")
                .name("m")
                .optimize(Optimize.RAM)
                .customOperators(MY_OP)
                .build());
        assertThat(source(compiled)).doesNotContainPattern("custom\\w*\\([^)]*row");
    }

    @Test
    void anErrorOfTheFunctionEndsTheRun() {
        assertThat(source(compile(Optimize.SPEED, Io.CALLER)))
                .contains("#include \"my_op.h\"\n")
                .contains("int32_t my_op(const int8_t* input0, const int8_t* input1, const int8_t* input2, int8_t*"
                        + " output0, int8_t* output1);\n")
                .containsPattern("if \\(my_op\\([^;]*\\) != 0\\) \\{\\n *return -1;");
    }

    @Test
    void printedTextReadsBackTheSame() {
        Function function = Frontends.read(singleOutput(), "m", InputShapes.NONE, ReadOptions.DEFAULT.with(MY_OP));
        String text = RelayPrinter.print(function);
        Path relay = folder.resolve("m.relay");
        WholeFiles.write(relay, text);
        assertThat(text).contains("tfl.custom(").contains("function=\"my_op\"");
        assertThat(RelayPrinter.print(RelayFrontend.read(relay, "m", InputShapes.NONE)))
                .isEqualTo(text);
    }

    /** RELU6 of what MyOp computes must not vanish in the call. */
    @Test
    void limitsBehindTheFunctionStay() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.float32("x", 1, 4));
        int y = builder.tensor(TensorSpec.float32("y", 1, 4));
        int z = builder.tensor(TensorSpec.float32("z", 1, 4));
        builder.custom("MyOp", new int[] {x}, y)
                .operator(BuiltinOperator.RELU6, 1, Options.none(), new int[] {y}, z)
                .inputs(x)
                .outputs(z);
        Path file = folder.resolve("limited.tflite");
        WholeFiles.write(file, builder.build());
        CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(file, "c -keys=cpu")
                .name("m")
                .customOperators(MY_OP)
                .build());
        assertThat(compiled.library().metadata().operators())
                .extracting(OperatorInfo::op)
                .containsExactly("tfl.custom", "clip");
    }

    static String source(CompiledModel compiled) {
        return compiled.library().artifacts().artifacts().stream()
                .filter(file -> file.fileName().equals("m_lib1.c"))
                .findFirst()
                .orElseThrow()
                .content()
                .text();
    }

    private Path singleOutput() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.int8("x", 1f, 0, 1, 4));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 0, 1, 4));
        Path file = folder.resolve("single.tflite");
        WholeFiles.write(
                file,
                builder.custom("MyOp", new int[] {x}, y).inputs(x).outputs(y).build());
        return file;
    }

    @Test
    void anOperatorWithoutFunctionNamesTheConfiguration() {
        assertThatThrownBy(() -> Frontends.read(file(), "m", InputShapes.NONE, ReadOptions.DEFAULT))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no C function computes the custom operator `MyOp`")
                .hasMessageContaining("operator #0 CUSTOM MyOp")
                .hasMessageContaining("<customOperators><customOperator><code>MyOp</code>");
    }

    /** Operators that Kiln has itself are computed by a function of the user's if there is one. */
    @Test
    void aFunctionComesBeforeKilnsOwnOperator() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.of("x", TensorType.INT16, 1, 4));
        int y = builder.tensor(TensorSpec.of("y", TensorType.INT16, 1, 4));
        builder.custom("SignalDelay", FlexOptions.of(Map.of("delay_length", 3)), new int[] {x}, y);
        Path file = folder.resolve("delay.tflite");
        WholeFiles.write(file, builder.inputs(x).outputs(y).build());
        CustomOperators own = CustomOperators.of(CustomOperators.parse("SignalDelay:my_delay"));
        assertThat(Frontends.read(file, "m", InputShapes.NONE, ReadOptions.DEFAULT.with(own))
                        .bindings()
                        .get(0)
                        .op()
                        .name())
                .isEqualTo("tfl.custom");
        Function function = Frontends.read(file, "m", InputShapes.NONE, ReadOptions.DEFAULT);
        assertThat(function.bindings().get(0).op().name()).isEqualTo("tfl.signal_delay");
    }

    @Test
    void shapesFollowTheRule() {
        CustomOperators dims = CustomOperators.of(CustomOperators.parse("MyOp:my_op::2,2"));
        Function function = Frontends.read(singleOutput(), "m", InputShapes.NONE, ReadOptions.DEFAULT.with(dims));
        assertThat(function.bindings().get(0).type().text()).contains("(2, 2)");
        InputShapes wider = InputShapes.parse("x:3,4");
        CustomOperators same = CustomOperators.of(CustomOperators.parse("MyOp:my_op::input0"));
        assertThat(Frontends.read(singleOutput(), "m", wider, ReadOptions.DEFAULT.with(same))
                        .bindings()
                        .get(0)
                        .type()
                        .text())
                .contains("(3, 4)");
        CustomOperators missing = CustomOperators.of(CustomOperators.parse("MyOp:my_op::input1"));
        assertThatThrownBy(() -> Frontends.read(singleOutput(), "m", wider, ReadOptions.DEFAULT.with(missing)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("input1");
        assertThatThrownBy(() -> Frontends.read(singleOutput(), "m", wider, ReadOptions.DEFAULT.with(MY_OP)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.inputShapes changes shapes")
                .hasMessageContaining("Set <shape> of `MyOp`");
    }

    @Test
    void vectorsProveTheImageAndNothingElseDoes() {
        TestPrograms.need("qemu-system-arm");
        TestToolchains.resolve("gnu", Boards.builtIn().find("mps2-an386").target());
        WholeFiles.write(folder.resolve("src/main/c/my_op.c"), SOURCE);
        WholeFiles.write(folder.resolve("src/main/c/my_op.h"), HEADER);
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        Path vectors = folder.resolve("vectors");
        assertThatThrownBy(() -> flow.build(spec(Optional.empty()), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("only the C function my_op knows the results of operator `MyOp`")
                .hasMessageContaining("input_0.bin and output_0.bin");
        WholeFiles.write(vectors.resolve("input_0.bin"), bytes(1, 2, 3, 4).toArray());
        WholeFiles.write(
                vectors.resolve("output_0.bin"), bytes(2, 4, 6, 0, 0, 0, 0, 0).toArray());
        flow.build(spec(Optional.of(vectors)), DeviceSpec.USUAL);
        WholeFiles.write(
                vectors.resolve("output_0.bin"), bytes(2, 4, 6, 0, 0, 0, 0, 1).toArray());
        assertThatThrownBy(() -> flow.build(spec(Optional.of(vectors)), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("1 of 8 outputs differ");
    }

    private BuildSpec spec(Optional<Path> vectors) {
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "m"),
                        List.of(new ModelSource(file(), "m")),
                        "mps2-an386")
                .toolchain(Optional.of("gnu"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, vectors, 2, 0))
                .customOperators(MY_OP)
                .build();
    }

    static Bytes bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Bytes.wrap(bytes);
    }
}
