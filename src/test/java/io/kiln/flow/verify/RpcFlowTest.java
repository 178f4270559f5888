// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RemoteFunction;
import io.kiln.device.rpc.client.RemoteTensor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.transport.CountedTransport;
import io.kiln.device.transport.Transport;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kiln's RPC client and the RPC server of an image, one against the other. */
final class RpcFlowTest {
    private static final double BAUD = 1_000_000;
    private static final double LINE_SHARE = 0.85;
    private static final int MOST_BYTES_OF_A_CALL = 150;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @ParameterizedTest
    @CsvSource({"host, host", "mps2-an386, clang", "mps3-an547, clang", "virtual-stm32f405, clang"})
    void modelsAnswerBitExactOverRpc(String board, String toolchain) throws IOException {
        List<ModelSource> models = Stream.of(OwnModel.KEYWORDS, OwnModel.CODER, OwnModel.SINE)
                .map(OwnModel::source)
                .toList();
        BuildSpec spec = SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain))
                .application("rpc")
                .calls(Optional.empty(), true, Optional.empty(), false)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0).with(VerifyOver.RPC))
                .build();

        flow.build(spec, DeviceSpec.USUAL);

        JsonNode report = json("kiln/verify.json");
        assertThat(report.path("bitExact").asBoolean()).isTrue();
        assertThat(report.path("cases")).hasSize(3);
        assertThat(json("kiln/report.json").path("application").asText()).isEqualTo("rpc");
        assertThat(log.warnings()).isEmpty();
        Emulator emulator = Emulator.of(Boards.builtIn().find(board), Duration.ofMinutes(2));
        Path image = folder.resolve("out/net.elf");
        if (board.equals("host")) {
            usesTheLineWell(emulator, image);
        } else {
            List<Double> times = times(emulator, image);
            assertThat(times).hasSize(2).allMatch(seconds -> seconds > 0);
            assertThat(times(emulator, image)).isEqualTo(times);
        }
    }

    /** What the server makes of a line of a million baud, on which each byte takes ten microseconds, whichever way it goes. */
    private static void usesTheLineWell(Emulator emulator, Path image) {
        byte[] content = new byte[64 << 10];
        new Random(1).nextBytes(content);
        try (CountedTransport line = new CountedTransport(emulator.boot(image));
                RpcClient client = RpcClient.connect(line, TransportTimeouts.EMULATOR, text -> {});
                RemoteTensor tensor = client.allocate(DataType.of(DType.INT8), content.length)) {
            client.mostPacketBytes();
            long before = line.bytes();
            tensor.upload(Bytes.copyOf(content));
            double seconds = (line.bytes() - before) * 10 / BAUD;
            assertThat(content.length * 10 / BAUD / seconds).isGreaterThanOrEqualTo(LINE_SHARE);
            assertThat(tensor.download().toArray()).isEqualTo(content);

            RemoteFunction size = client.global("tvm.rpc.server.GetCRTMaxPacketSize");
            long idle = line.bytes();
            size.call();
            assertThat(line.bytes() - idle).isLessThanOrEqualTo(MOST_BYTES_OF_A_CALL);
        }
    }

    /** How long the smallest model takes, by the image's own timer. */
    private static List<Double> times(Emulator emulator, Path image) {
        try (Transport line = emulator.boot(image);
                RpcClient client = RpcClient.connect(line, TransportTimeouts.EMULATOR, text -> {});
                AotExecutor model = AotExecutor.create(client, client.systemLibrary(), "sine")) {
            model.run(List.of(Bytes.wrap(new byte[1])));
            return model.timeEvaluator(client, new TimeEvaluator.Settings(3, 2, 0, 1))
                    .seconds();
        }
    }

    /** Both applications have a main.c, and each must be compiled. */
    @ParameterizedTest
    @CsvSource({"rpc, CONSOLE", "console, RPC"})
    void anImageIsVerifiedWithTheApplicationThatSpeaksTheProtocol(String application, VerifyOver over)
            throws IOException {
        BuildSpec spec = new GestureProject(folder)
                .spec("host")
                .application(application)
                .calls(Optional.of("packed"), true, Optional.empty(), false)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0).with(over))
                .build();

        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(log.said()).anyMatch(line -> line.contains(", because it answers the host"));
        if (over == VerifyOver.CONSOLE) {
            assertThatThrownBy(() -> flow.run(spec, new RunSpec(Duration.ofSeconds(5), Optional.empty())))
                    .hasMessageContaining(
                            "kiln.application rpc: the image has an RPC server, which does not answer on a console;"
                                    + " expected kiln.verify.over rpc, or kiln.application console.");
        }
    }

    @Test
    void aServerNeedsFunctionsThatItFindsByName() {
        BuildSpec spec = new GestureProject(folder)
                .spec("host")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0).with(VerifyOver.RPC))
                .build();

        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.verify.over is rpc, and the models have no system library")
                .hasMessageContaining("Set kiln.interfaceApi to packed");
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper()
                .readTree(Files.readString(folder.resolve("out").resolve(file)));
    }
}
