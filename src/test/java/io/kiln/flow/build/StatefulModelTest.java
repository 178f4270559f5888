// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.firmware.RecordingLog;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.StreamingModel;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.reference.Interpreter;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model that remembers: what it computes from run to run, and that a reset makes it forget. */
public class StatefulModelTest {
    private static final TensorType PAIR = new TensorType(Shape.of(2), DType.FLOAT32);

    @TempDir
    private Path folder;

    /** A running sum beside one that is a run late. */
    public static Function sums(float first) {
        Constant initial = Constant.vector(first, 0f);
        List<Binding> bindings = new ArrayList<>();
        bindings.add(binding(2, new Copy(), PAIR, new Arg.Ref(1)));
        bindings.add(binding(3, new Binary(Binary.Kind.ADD), PAIR, new Arg.Ref(0), new Arg.Ref(1)));
        bindings.add(binding(4, new RefWrite(), TensorType.UNIT, new Arg.Ref(1), new Arg.Ref(3)));
        return new Function(
                        "sums",
                        List.of(new Parameter(0, "x", PAIR, Optional.empty())),
                        bindings,
                        List.of(new Result(3, "sum", Optional.empty()), new Result(2, "before", Optional.empty())))
                .withVariables(List.of(new Variable(1, "total", PAIR, initial.data())));
    }

    private static Binding binding(int id, Op op, TensorType type, Arg... args) {
        return new Binding(id, op, List.of(args), type, new Origin("sums.tflite", id, "TEST", "t" + id));
    }

    @Test
    void theInterpreterRemembersAndForgets() {
        Function function = sums(1f);
        Interpreter.State state = Interpreter.State.initial(function);
        Bytes x = Constant.vector(2f, 3f).data();
        assertThat(Interpreter.run(function, List.of(x), state)).containsExactly(floats(3f, 3f), floats(1f, 0f));
        assertThat(Interpreter.run(function, List.of(x), state)).containsExactly(floats(5f, 6f), floats(3f, 3f));
        assertThat(Interpreter.run(function, List.of(x))).containsExactly(floats(3f, 3f), floats(1f, 0f));
    }

    private static Bytes floats(float... values) {
        return Constant.vector(values).data();
    }

    @ParameterizedTest
    @CsvSource({
        "false, 1, SPEED, CALLER",
        "false, 0, RAM, WORKSPACE",
        "false, 1, SIZE, WORKSPACE",
        "true, 1, SPEED, CALLER",
        "true, 0, SIZE, CALLER",
        "true, 1, RAM, WORKSPACE"
    })
    void generatedCRemembersAndForgets(boolean isImported, float first, Optimize optimize, Io io) {
        CompileRequest request = RequestDraft.of(Path.of("sums.tflite"), "c -keys=cpu")
                .name("sums")
                .io(io)
                .optimize(optimize)
                .build();
        CompiledModel compiled = ModelCompiler.compile(
                request, isImported ? StreamingModel.sums(first).read() : sums(first));
        List<String> line = new ArrayList<>(List.of("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow"));
        line.addAll(List.of("-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"));
        for (Artifact file : compiled.library().artifacts().artifacts()) {
            if (file.kind() == ArtifactKind.SOURCE || file.kind() == ArtifactKind.HEADER) {
                WholeFiles.write(folder.resolve(file.fileName()), file.content().toArray());
            }
            if (file.kind() == ArtifactKind.SOURCE) {
                line.add(file.fileName());
            }
        }
        WholeFiles.write(folder.resolve("main.c"), io == Io.CALLER ? CALLER : WORKSPACE);
        line.addAll(List.of("main.c", "-o", "program"));
        assertThat(run("cc", line)).isEmpty();
        int one = (int) first;
        String fresh = (one + 2) + " 3 " + one + " 0\n";
        assertThat(run("./program", List.of())).isEqualTo(fresh + (one + 4) + " 6 " + (one + 2) + " 3\n" + fresh);
    }

    /** A variable of two floats, and whether it holds its first values yet. */
    @Test
    void reportAndInspectionTellWhatItRemembers() throws IOException {
        TestToolchains.resolve("gnu", Boards.builtIn().find("mps2-an386").target());
        RecordingLog log = new RecordingLog();
        Flow flow = new Flow(log, TestToolchains.environment(log));
        Path model = folder.resolve("sums.tflite");
        WholeFiles.write(model, StreamingModel.sums(1f).build());
        BuildSpec spec = SpecDraft.of(
                        new BuildSpec.Layout(folder, folder.resolve("out"), "sums"),
                        List.of(new BuildSpec.ModelSource(model, "sums")),
                        "mps2-an386")
                .toolchain(Optional.of("gnu"))
                .verify(new BuildSpec.VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        String report = Files.readString(folder.resolve("out/kiln/report.json"));
        JsonSchemas.assertFits("report", report);
        JsonNode ram = new ObjectMapper().readTree(report).path("ram");
        assertThat(ram.path("state").asLong()).isEqualTo(9);
        assertThat(ram.path("bss").asLong()).isGreaterThanOrEqualTo(9);
        assertThat(ram.path("total").asLong())
                .isEqualTo(Stream.of("data", "bss", "workspace", "io", "stack")
                        .mapToLong(part -> ram.path(part).asLong())
                        .sum());
        log.take();
        flow.inspect(spec, Optional.of(model), GivenInputs.NONE);
        assertThat(log.take()).contains("state 9 bytes, kept between runs");
        flow.inspect(spec, Optional.of(folder.resolve("out/sums.elf")), GivenInputs.NONE);
        assertThat(log.take()).anyMatch(line -> line.endsWith("9 of them state of models"));
    }

    private static final String MAIN = """
        #include <stdio.h>
        #include <stdint.h>
        #include "tvmgen_sums.h"
        %s
        int main(void) {
          step();
          step();
          if (tvmgen_sums_reset() != 0 || TVMGEN_SUMS_STATE_SIZE < 8) return 3;
          step();
          return 0;
        }
        """;

    private static final String CALLER = String.format(Locale.ROOT, MAIN, """
        static void step(void) {
          const float x[] = {2.0f, 3.0f};
          float sum[2];
          float before[2];
          struct tvmgen_sums_inputs inputs = {x};
          struct tvmgen_sums_outputs outputs = {sum, before};
          if (tvmgen_sums_run(&inputs, &outputs) != 0) printf("error");
          printf("%g %g %g %g\\n", (double)sum[0], (double)sum[1], (double)before[0], (double)before[1]);
        }
        """);

    private static final String WORKSPACE = String.format(Locale.ROOT, MAIN, """
        static void step(void) {
          static uint8_t pool[TVMGEN_SUMS_GLOBAL_WORKSPACE_WORKSPACE_POOL_SIZE] __attribute__((aligned(16)));
          struct tvmgen_sums_workspace_pools pools = {pool};
          float* x = tvmgen_sums_map_inputs(&pools).x;
          x[0] = 2.0f;
          x[1] = 3.0f;
          if (tvmgen_sums_run(&pools) != 0) printf("error");
          const struct tvmgen_sums_outputs out = tvmgen_sums_map_outputs(&pools);
          const float* sum = out.sum;
          const float* before = out.before;
          printf("%g %g %g %g\\n", (double)sum[0], (double)sum[1], (double)before[0], (double)before[1]);
        }
        """);

    private String run(String program, List<String> arguments) {
        var result = ProcessRunner.run(Command.of(program, arguments).in(folder).within(Duration.ofMinutes(1)));
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.output();
    }
}
