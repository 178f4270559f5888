// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program of the user's that drives the graph executor, as the documentation shows it. */
final class GraphOwnMainTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();

    @Test
    void aMainOfOnesOwnRunsAGraphAndAnswersRight() {
        Function function = Frontends.read(GestureProject.MODEL, "gesture", InputShapes.NONE, ReadOptions.DEFAULT);
        byte[] input = new byte[Math.toIntExact(function.params().get(0).type().bytes())];
        for (int i = 0; i < input.length; i++) {
            input[i] = (byte) (7 * i - 50);
        }
        Bytes output = Interpreter.run(function, List.of(Bytes.wrap(input))).get(0);
        WholeFiles.write(
                folder.resolve("src/main/c/main.c"), main(function, numbers(input), numbers(output.toArray())));
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an386")
                .toolchain(Optional.of("clang"))
                .verify(GestureProject.UNVERIFIED)
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .build();
        new Flow(log, TestToolchains.environment(log)).run(spec, new RunSpec(Duration.ofMinutes(1), Optional.empty()));
        assertThat(log.said()).contains("The image ended with code 0").anyMatch(line -> line.contains("right"));
        assertThat(log.warnings()).isEmpty();
    }

    private static String numbers(byte[] bytes) {
        return IntStream.range(0, bytes.length)
                .mapToObj(i -> String.valueOf(bytes[i]))
                .collect(Collectors.joining(", "));
    }

    private static String shape(List<Integer> shape) {
        return shape.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    private static String main(Function function, String input, String output) {
        List<Integer> from = function.params().get(0).type().shape().dims();
        List<Integer> to =
                function.types().get(function.results().get(0).id()).shape().dims();
        return String.format(
                Locale.ROOT,
                """
                #include <string.h>
                #include <tvm/runtime/crt/crt.h>
                #include <tvm/runtime/crt/graph_executor.h>
                #include <tvm/runtime/crt/module.h>
                #include "kiln_console.h"
                #include "tvmgen_gesture_graph.h"

                static int8_t given[] = {%s};
                static const int8_t expected[] = {%s};
                static int8_t answer[sizeof expected];

                int main(void) {
                  static const DLDevice cpu = {kDLCPU, 0};
                  static int64_t from[] = {%s};
                  static int64_t to[] = {%s};
                  DLTensor input = {given, {kDLCPU, 0}, %d, {kDLInt, 8, 1}, from, NULL, 0};
                  DLTensor output = {answer, {kDLCPU, 0}, %d, {kDLInt, 8, 1}, to, NULL, 0};
                  TVMModuleHandle module = NULL;
                  TVMGraphExecutor* executor = NULL;
                  int error = (int)TVMInitializeRuntime();
                  if (error == 0) error = TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &module);
                  if (error == 0) error = TVMGraphExecutor_Create(tvmgen_gesture_graph, module, &cpu, &executor);
                  if (error != 0) return error;
                  error = TVMGraphExecutor_LoadParams(
                      executor, (const char*)tvmgen_gesture_params, TVMGEN_GESTURE_PARAMS_SIZE);
                  TVMGraphExecutor_SetInput(executor, "%s", &input);
                  if (error == 0) error = TVMGraphExecutor_RunChecked(executor);
                  if (error == 0) error = TVMGraphExecutor_GetOutput(executor, 0, &output);
                  (void)TVMGraphExecutor_Release(&executor);
                  if (error == 0) error = memcmp(answer, expected, sizeof expected) == 0 ? 0 : 1;
                  if (error == 0) kiln_console_text("right\\r\\n");
                  return error;
                }
                """,
                input,
                output,
                shape(from),
                shape(to),
                from.size(),
                to.size(),
                function.params().get(0).name());
    }
}
