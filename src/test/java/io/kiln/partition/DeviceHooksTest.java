// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.OwnModel;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Drivers of two devices log what is called, and fail where they are told to. */
class DeviceHooksTest {
    private static final String NEW_LINE = "\n";

    /** The number of the call that fails is the program's argument. */
    private static final String DRIVERS = """
        #include <stdio.h>
        #include <stdlib.h>
        #include "tvmgen_net.h"
        static int calls;
        static int failing;
        int32_t called(const char* what, void* context);
        int32_t called(const char* what, void* context) {
          printf("%s %s\\n", what, (const char*)context);
          return ++calls == failing;
        }
        #define HOOK(device, what)                                 \\
          int32_t TVMDevice##device##what(void* context);          \\
          int32_t TVMDevice##device##what(void* context) {         \\
            return called(#device #what, context);                 \\
          }
        #define HOOKS(device) \\
          HOOK(device, Activate) HOOK(device, Open) HOOK(device, Close) HOOK(device, Deactivate)
        HOOKS(EthosN)
        HOOKS(MyNpu2)
        """;

    private static final String CALLER = """
        static int32_t run(struct tvmgen_net_devices* devices) {
          static const int8_t x[1];
          static int8_t y[1];
          struct tvmgen_net_inputs inputs = {x};
          struct tvmgen_net_outputs outputs = {y};
          return tvmgen_net_run(&inputs, &outputs, devices);
        }
        """;

    private static final String WORKSPACE = """
        static int32_t run(struct tvmgen_net_devices* devices) {
          static uint8_t pool[TVMGEN_NET_GLOBAL_WORKSPACE_WORKSPACE_POOL_SIZE] __attribute__((aligned(16)));
          struct tvmgen_net_workspace_pools pools = {pool};
          return tvmgen_net_run(&pools, devices);
        }
        """;

    private static final String MAIN = """
        int main(int argc, char** argv) {
          char first[] = "first";
          char second[] = "second";
          struct tvmgen_net_devices devices = {.ethos_n = first, .my_npu_2 = second};
          failing = argc > 1 ? atoi(argv[1]) : 0;
          printf("%d\\n", (int)run(&devices));
          return 0;
        }
        """;

    /** Takes those dense layers whose input has a length, and computes nothing. */
    private record Npu(String name, Predicate<Integer> lengths) implements ExternalCodegen {
        @Override
        public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
            List<PatternStep> steps = List.of(
                    PatternStep.named("qnn.dense"),
                    PatternStep.named("nn.bias_add").orNone(),
                    PatternStep.named("tfl.requantize"));
            Condition length = new Condition(
                    "its input has another length",
                    match ->
                            lengths.test(match.argument(match.root(), 0).shape().dim(-1)));
            return List.of(new CompositePattern(name + ".dense", steps, List.of(length)));
        }

        @Override
        public boolean hasDevice() {
            return true;
        }

        @Override
        public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
            return ExternalCall.plain(name);
        }

        @Override
        public List<Artifact> generate(ExternalUnit unit) {
            StringBuilder text =
                    new StringBuilder("#include <stdint.h>\nint32_t called(const char* what, void* context);\n");
            for (ExternalFunction function : unit.functions()) {
                String signature = "int32_t " + function.symbol() + "("
                        + String.join(", ", ExternalCall.plain("").parameters(function)) + ")";
                text.append(signature).append(";\n").append(signature).append(" {\n  output_[0] = input_[0];\n");
                text.append("  return called(\"").append(function.symbol()).append("\", device_);\n}\n");
            }
            return List.of(Artifact.ofText(name, ArtifactKind.SOURCE, unit.file() + ".c", text.toString()));
        }
    }

    @TempDir
    private Path folder;

    private static RequestDraft request() {
        return RequestDraft.of(OwnModel.SINE.model(), "ethos-n, my-npu-2, c")
                .name("net")
                .codegens(
                        List.of(new Npu("ethos-n", length -> length == 1), new Npu("my-npu-2", length -> length > 1)));
    }

    @Test
    void hooksAreNamedAsInTvm() {
        DeviceHooks hooks = DeviceHooks.of("ethos-n");
        assertThat(Stream.of(hooks.activate(), hooks.open(), hooks.close(), hooks.deactivate()))
                .containsExactly(
                        "TVMDeviceEthosNActivate",
                        "TVMDeviceEthosNOpen",
                        "TVMDeviceEthosNClose",
                        "TVMDeviceEthosNDeactivate");
        assertThat(hooks.device()).isEqualTo("ethos_n");
        assertThat(hooks.context()).isEqualTo("device_context_ethos_n");
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void hooksSurroundRunsAndCallsAndTheirErrorsEndTheRun(Io io) {
        CompiledModel model = ModelCompiler.compile(request().io(io).build());
        build(model, io);
        List<String> good = List.of(
                "EthosNActivate first",
                "MyNpu2Activate second",
                "EthosNOpen first",
                "tvmgen_net_ethos_n_main_0 first",
                "EthosNClose first",
                "MyNpu2Open second",
                "tvmgen_net_my_npu_2_main_1 second",
                "MyNpu2Close second",
                "MyNpu2Open second",
                "tvmgen_net_my_npu_2_main_2 second",
                "MyNpu2Close second",
                "MyNpu2Deactivate second",
                "EthosNDeactivate first");
        assertThat(run(0)).isEqualTo(lines(good, 0, List.of(), "0"));
        List<String> off = good.subList(11, 13);
        assertThat(run(1)).isEqualTo(lines(good, 1, List.of(), "-1"));
        assertThat(run(2)).isEqualTo(lines(good, 2, List.of("EthosNDeactivate first"), "-1"));
        assertThat(run(3)).isEqualTo(lines(good, 3, off, "-1"));
        assertThat(run(7)).as("a function that fails is closed").isEqualTo(lines(good, 8, off, "-1"));
        assertThat(run(8)).isEqualTo(lines(good, 8, off, "-1"));
        assertThat(run(12)).isEqualTo(lines(good, 13, List.of(), "-1"));
        assertThat(run(13)).isEqualTo(lines(good, 13, List.of(), "-1"));
    }

    private static String lines(List<String> good, int count, List<String> more, String status) {
        List<String> lines = new ArrayList<>(count == 0 ? good : good.subList(0, count));
        lines.addAll(more);
        lines.add(status);
        return String.join(NEW_LINE, lines) + NEW_LINE;
    }

    @Test
    void theInterfaceHasTheDevices() {
        CompiledModel model = ModelCompiler.compile(request().build());
        assertThat(model.library().metadata().api().devices())
                .containsExactly(new DeviceHooks("ethos_n"), new DeviceHooks("my_npu_2"));
        assertThat(model.library().artifacts().of(ArtifactKind.HEADER).get(0).text())
                .contains("struct tvmgen_net_devices {\n  void* ethos_n;\n  void* my_npu_2;\n};\n")
                .contains("struct tvmgen_net_outputs* outputs, struct tvmgen_net_devices* devices);");
    }

    @Test
    void interfacesWithoutContextsAreRefused() {
        String message = "the device ethos_n needs a context, which only the C interface of the AOT executor passes";
        CompileRequest packed = request().convention(Convention.PACKED).build();
        assertThatThrownBy(() -> ModelCompiler.compile(packed)).hasMessageContaining(message);
        CompileRequest graph = request().executor(ExecutorKind.GRAPH).build();
        assertThatThrownBy(() -> ModelCompiler.compile(graph)).hasMessageContaining(message);
    }

    private void build(CompiledModel model, Io io) {
        List<String> line = new ArrayList<>(List.of("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow"));
        line.addAll(List.of("-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"));
        for (Artifact file : model.library().artifacts().artifacts()) {
            if (file.kind() == ArtifactKind.SOURCE || file.kind() == ArtifactKind.HEADER) {
                WholeFiles.write(folder.resolve(file.fileName()), file.content().toArray());
            }
            if (file.kind() == ArtifactKind.SOURCE) {
                line.add(file.fileName());
            }
        }
        WholeFiles.write(folder.resolve("main.c"), DRIVERS + (io == Io.CALLER ? CALLER : WORKSPACE) + MAIN);
        line.addAll(List.of("main.c", "-o", "program"));
        run("cc", line);
    }

    private String run(int failing) {
        return run("./program", List.of(String.valueOf(failing)));
    }

    private String run(String program, List<String> arguments) {
        ProcessResult result =
                ProcessRunner.run(Command.of(program, arguments).in(folder).within(Duration.ofMinutes(2)));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result.output();
    }
}
