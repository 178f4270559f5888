// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.compile.CallOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.rpc.client.DebugDump;
import io.kiln.device.rpc.client.DebugExecutor;
import io.kiln.device.rpc.client.GraphExecutor;
import io.kiln.device.rpc.client.RemoteTensor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.transport.Transport;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models whose graph this computer walks while a board computes, and looks into them. */
final class GraphRpcTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String BOARD = "mps2-an386";

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @ParameterizedTest
    @CsvSource({"mps2-an386, false", "mps3-an547, true"})
    void modelsAnswerBitExactNodeByNode(String board, boolean linked) throws IOException {
        List<ModelSource> models = Stream.of(OwnModel.KEYWORDS, OwnModel.SINE)
                .map(OwnModel::source)
                .toList();
        BuildSpec spec = build(board, models)
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, linked))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0).with(VerifyOver.RPC))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        String report = Files.readString(folder.resolve("out/kiln/verify.json"));
        assertThat(new ObjectMapper().readTree(report).path("bitExact").asBoolean())
                .isTrue();
        assertThat(new ObjectMapper().readTree(report).path("cases")).hasSize(2);
        assertThat(log.warnings()).isEmpty();
    }

    /** An archive of TVM's, and what TVM's own debug executor found in the same model. */
    @Test
    @NeedsShared("tvm")
    void everyValueOfAModelIsWhatTvmFound() throws IOException {
        Path tvm = SharedFolder.need("tvm");
        flow.build(
                build(BOARD, List.of(new ModelSource(tvm.resolve("hello_world_int8__graph.tar"), "default")))
                        .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                        .build(),
                DeviceSpec.USUAL);
        Path generated = folder.resolve("out/generated-sources/kiln");
        String json = Files.readString(generated.resolve("executor-config/graph/default.graph"));
        GraphFile graph = GraphFile.read(Bytes.ofText(json), "default.graph");
        Bytes parameters = Bytes.wrap(Files.readAllBytes(generated.resolve("parameters/default.params")));
        Path found = tvm.resolve("graph-debug/hello_world_int8/" + DebugDump.FOLDER);

        Emulator emulator = new Emulator(Boards.builtIn().find(BOARD), LIMIT, Optional.empty(), false);
        try (Transport line = emulator.boot(folder.resolve("out/net.elf"));
                RpcClient client =
                        RpcClient.connect(line, TransportTimeouts.EMULATOR.withReplies(LIMIT), text -> {}, text -> {});
                GraphExecutor executor = GraphExecutor.create(client, client.systemLibrary(), graph)) {
            drives(client, executor, parameters);
            DebugExecutor debug = new DebugExecutor(executor);
            executor.setInput(0, Bytes.wrap(new byte[] {-128}));
            List<Bytes> outputs = debug.outputs();
            List<List<Double>> seconds = debug.runIndividual(TimeEvaluator.Settings.USUAL.with(1, 2));
            Path dump = new DebugDump(graph, json, seconds, outputs).write(folder.resolve("dump"));

            assertThat(tensors(dump))
                    .isEqualTo(tensors(found))
                    .hasSize(graph.entries().size());
            assertThat(new ObjectMapper()
                            .readTree(dump.resolve("_tvmdbg_graph_dump.json").toFile()))
                    .isEqualTo(new ObjectMapper()
                            .readTree(found.resolve("_tvmdbg_graph_dump.json").toFile()));
            for (int i = 0; i < graph.nodes().size(); i++) {
                Node node = graph.nodes().get(i);
                assertThat(seconds.get(i)).hasSize(2).allMatch(one -> node.isOperator() == one > 0);
            }
            nodesAreFound(debug, graph, outputs);
        }
    }

    private static void nodesAreFound(DebugExecutor debug, GraphFile graph, List<Bytes> outputs) {
        assertThat(debug.debugGetOutput(6)).isEqualTo(outputs.get(6));
        assertThat(debug.debugGetOutput(graph.nodes().get(7).name())).isEqualTo(outputs.get(7));
        assertThatThrownBy(() -> debug.debugGetOutput("none")).hasMessageContaining("no node `none`");
        assertThatThrownBy(() -> debug.getNodeOutput(0, 1)).hasMessageContaining("node 0 has 1 outputs, not 1");
    }

    /** All functions of the host's executor. */
    private static void drives(RpcClient client, GraphExecutor executor, Bytes parameters) {
        Bytes answer = Bytes.wrap(new byte[] {4});
        Bytes input = Bytes.wrap(new byte[] {-128});
        assertThat(executor.numInputs()).isEqualTo(9);
        assertThat(executor.numOutputs()).isEqualTo(1);
        assertThat(executor.inputIndex("p0")).isEqualTo(1);
        assertThat(executor.inputIndex("q")).isEqualTo(-1);
        assertThat(executor.inputInfo()).hasSize(9);
        executor.loadParams(parameters);
        assertThat(executor.inputInfo()).containsOnlyKeys("serving_default_dense_input:0");
        assertThat(executor.outputInfo().get(0).shape()).containsExactly(1, 1);
        assertThat(executor.runFromInputs(List.of(input))).containsExactly(answer);
        assertThat(executor.getInput(0)).isEqualTo(input);
        assertThatThrownBy(() -> executor.setInput("q", input))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("no input or parameter `q`");
        try (GraphExecutor second = GraphExecutor.create(client, client.systemLibrary(), executor.graph());
                RemoteTensor from = client.allocate(new DataType(0, 8, 1), 1, 1);
                RemoteTensor to = client.allocate(new DataType(0, 8, 1), 1, 1)) {
            second.shareParams(executor, parameters);
            from.upload(input);
            second.setInputZeroCopy("serving_default_dense_input:0", from);
            second.setOutputZeroCopy(0, to);
            second.run();
            assertThat(to.download()).isEqualTo(answer);
        }
    }

    private static Map<String, NamedTensor> tensors(Path dump) throws IOException {
        List<NamedTensor> read = ParameterFile.read(
                Bytes.wrap(Files.readAllBytes(dump.resolve("output_tensors.params"))), "output_tensors.params");
        return new ArrayList<>(read).stream().collect(Collectors.toMap(NamedTensor::name, tensor -> tensor));
    }

    private SpecDraft build(String board, List<ModelSource> models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of("clang"))
                .application("rpc");
    }
}
