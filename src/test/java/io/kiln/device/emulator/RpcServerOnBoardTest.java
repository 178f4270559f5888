// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.device.rpc.client.RemoteTensor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.transport.FrameReader.FrameDecoder;
import io.kiln.device.transport.FrameReader.Frames;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.FirmwareRequest.BroughtSources;
import io.kiln.firmware.FirmwareRequest.ExtraCode;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The application {@code rpc}: a recorded conversation with it, and what it costs. */
class RpcServerOnBoardTest {
    /** Of server, executor, registry and the rest of the C runtime. */
    private static final int FLASH = 16 * 1024;

    /** Beside packet buffer, heap and stack. */
    private static final int RAM = 1536;

    /** A line of LLD's map: addresses, size and alignment in hexadecimal, then the input section; strings that it merges come from no object. */
    private static final Pattern SECTION = Pattern.compile(
            " *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +[0-9]+ +(?:\\S*/objects/runtime/\\S+|<internal>):\\((\\.\\S+)\\)");

    /** The first word after a reset is always the same, so that a session's id is. */
    private static final String SESSION = "8228";

    private static final String NEGATED = "0a00000000000000" + "08000000" + "fffe01fc8100";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"host, host", "mps2-an386, clang", "mps3-an547, clang", "virtual-stm32f405, gnu", "qemu-riscv32, clang"
    })
    void aHostCallsAFunctionOnTheBoard(String id, String toolchain) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = image(board, toolchain).elf();

        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(30)).start(image)) {
            FrameDecoder decoder = new FrameDecoder(4096);
            assertThat(receive(process, decoder)).isEqualTo("000002");
            assertThat(new String(decoder.takeText(), StandardCharsets.US_ASCII))
                    .contains("kiln: rpc server ready, for the bench only");
            send(process, "82000001");
            assertThat(receive(process, decoder)).isEqualTo(SESSION + "0101");
            assertThat(call(process, decoder, "02000000" + text("0.8.0") + "00000000"))
                    .isEqualTo("0c00000000000000040000000100000004000000");
            assertThat(call(process, decoder, "09000000" + "010000000b000000" + text("runtime.SystemLib")))
                    .endsWith("0080028000000000");
            assertThat(call(process, decoder, "03000000" + "0080028000000000" + "00000000"))
                    .endsWith("0900000000000000" + "0080000000000000");
            String in = allocate(process, decoder);
            String out = allocate(process, decoder);
            call(process, decoder, "07000000" + tensor(in) + "0600000000000000" + "0102ff047f00");
            assertThat(call(
                            process,
                            decoder,
                            "03000000" + "0080008000000000" + "020000000700000007000000" + tensor(in) + tensor(out)))
                    .endsWith("0400000000000000");
            assertThat(call(process, decoder, "06000000" + tensor(out) + "0600000000000000"))
                    .isEqualTo(NEGATED);
            assertThat(call(process, decoder, "06000000" + tensor("0000000000000000") + "0600000000000000"))
                    .contains("05000000" + "01000000" + "0b000000");
        }
    }

    /** What comes before a whole start is skipped: another one from before the board listened, which a UART may lose, noise, and a cut one. */
    @ParameterizedTest
    @CsvSource({"mps2-an386", "microbit", "virtual-stm32f405", "qemu-riscv32"})
    void theFirstWholeStartIsAnswered(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(60))
                .start(image(board, "clang").elf())) {
            send(process, "82000001");
            FrameDecoder decoder = new FrameDecoder(4096);
            assertThat(receive(process, decoder)).isEqualTo("000002");
            process.input().write(HexFormat.of().parseHex("00ff0dfffd0400000082" + "fffd0400000082" + "fffe"));
            send(process, "83000001");
            String reply = receive(process, decoder);
            assertThat(reply.startsWith("82") ? receive(process, decoder) : reply)
                    .matches("83[0-9a-f]{2}0101");
        }
    }

    /** {@code nightly} takes all boards that QEMU emulates. */
    static Stream<String> idleBoards() {
        return System.getProperty("kiln.golden", "").equals("all")
                ? Boards.builtIn().ids().stream()
                        .filter(id -> Boards.builtIn().find(id).emulation() instanceof Emulation.Qemu)
                : Stream.of("mps2-an386", "qemu-riscv32");
    }

    /** It waits for the UART's interrupt, so that the emulator has nothing to do. */
    @ParameterizedTest
    @MethodSource("idleBoards")
    void anIdleImageTakesNoTimeOfThisComputer(String id) throws IOException, InterruptedException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(60))
                .start(image(board, "clang").elf())) {
            assertThat(receive(process, new FrameDecoder(4096))).isEqualTo("000002");
            Duration before = used(process);
            Thread.sleep(500);
            assertThat(used(process).minus(before)).isLessThan(Duration.ofMillis(150));
        }
    }

    private static Duration used(RunningProcess process) {
        return ProcessHandle.of(process.pid())
                .orElseThrow()
                .info()
                .totalCpuDuration()
                .orElseThrow();
    }

    @Test
    void aLineHasOneClient() throws IOException {
        Board board = HandWrittenModel.board("host");
        Path image = image(board, "host").elf();
        try (Transport line = Emulator.of(board, Duration.ofSeconds(60)).boot(image)) {
            RpcClient first = RpcClient.connect(line, TransportTimeouts.EMULATOR, log -> {});
            assertThatThrownBy(() -> RpcClient.connect(line, TransportTimeouts.EMULATOR, log -> {}))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("another client holds the line");
            assertThat(first.mostPacketBytes()).isPositive();
            first.close();
            assertThat(line.held()).isFalse();
        }
    }

    /** The sessions of a bench whose computer has ten other things to do in a nightly build, and none else. */
    @Test
    void noSessionIsLost() throws IOException {
        boolean isNight = System.getProperty("kiln.golden", "").equals("all");
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = image(board, "clang").elf();
        List<RunningProcess> busy = new ArrayList<>();
        try {
            for (int i = 0; isNight && i < 10; i++) {
                busy.add(ProcessRunner.start(Command.of("sh", "-c", "while :; do :; done")));
            }
            for (int i = 0; i < (isNight ? 50 : 3); i++) {
                try (Transport line = Emulator.of(board, Duration.ofMinutes(5)).boot(image);
                        RpcClient client =
                                RpcClient.connect(line, TransportTimeouts.of(SessionLimits.USUAL, true), log -> {});
                        RemoteTensor tensor = client.allocate(DataType.of(DType.INT8), 64)) {
                    Bytes data = Bytes.copyOf(new byte[64]);
                    tensor.upload(data);
                    assertThat(tensor.download()).isEqualTo(data);
                }
            }
        } finally {
            busy.forEach(RunningProcess::close);
        }
    }

    @Test
    void theServerFitsSmallCores() throws IOException {
        Path map = image(HandWrittenModel.board("mps2-an386"), "clang").map();

        assertThat(bytes(map, "\\.(text|rodata|data|init_array)\\b.*")).isBetween(8L * 1024, (long) FLASH);
        assertThat(bytes(map, "\\.(data|bss)\\b.*")).isBetween(1024L, (long) RAM);
    }

    /** The runtime's bytes in the sections of these names. */
    private static long bytes(Path map, String sections) throws IOException {
        long bytes = 0;
        for (String line : Files.readAllLines(map)) {
            Matcher section = SECTION.matcher(line);
            if (section.matches() && section.group(2).matches(sections)) {
                bytes += Long.parseLong(section.group(1), 16);
            }
        }
        return bytes;
    }

    private Image image(Board board, String toolchain) throws IOException {
        FirmwareRequest request = new FirmwareRequest(
                board,
                TestToolchains.resolve(toolchain, board.target()),
                Optimize.SIZE,
                new FirmwareRequest.Content(
                        List.of(library()),
                        UserCode.of(folder.resolve("main")),
                        ImageOptions.DEFAULT.with(Application.RPC),
                        BroughtSources.NONE,
                        ExtraCode.NONE),
                FirmwareRequest.Folders.in(folder),
                "test");
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        return FirmwareLinker.link(objects, folder, "image", Log.QUIET);
    }

    /** The library of the server's tests on the host, without their clock. */
    private static ModelLibrary library() throws IOException {
        String header = Files.readString(Path.of("src", "test", "c", "rpc_library.h"));
        String source = header.substring(0, header.indexOf("/* A clock")) + "#endif\n";
        return new ModelLibrary(
                HandWrittenModel.library(Io.CALLER).metadata(),
                new ArtifactSet(List.of(Artifact.ofText("c", ArtifactKind.SOURCE, "hand_lib0.c", source))));
    }

    private static void send(RunningProcess process, String hex) throws IOException {
        process.input().write(Frames.encode(Bytes.wrap(HexFormat.of().parseHex(hex))));
        process.input().flush();
    }

    private static String receive(RunningProcess process, FrameDecoder decoder) throws IOException {
        for (int value = process.output().read();
                value >= 0;
                value = process.output().read()) {
            Optional<Bytes> frame = decoder.accept(value);
            if (frame.isPresent()) {
                return HexFormat.of().formatHex(frame.get().toArray());
            }
        }
        throw new AssertionError("the console has ended");
    }

    /** Sends a packet without its length, and returns the reply's packet. */
    private static String call(RunningProcess process, FrameDecoder decoder, String packet) throws IOException {
        send(process, SESSION + "10" + number(packet.length() / 2) + packet);
        String reply = receive(process, decoder);
        assertThat(reply).startsWith(SESSION + "10");
        return reply.substring(6);
    }

    private static String allocate(RunningProcess process, FrameDecoder decoder) throws IOException {
        String types = "04000000" + "06000000" + "00000000" + "00000000" + "05000000";
        String values = "0100000000000000" + number(6) + number(64) + "0008010000000000";
        String reply = call(process, decoder, "0d000000" + types + values);
        return reply.substring(reply.length() - 16);
    }

    /** Six signed bytes at an address. */
    private static String tensor(String address) {
        return address + "0100000000000000" + "01000000" + "00080100" + number(6) + number(0);
    }

    private static String text(String text) {
        return number(text.length()) + HexFormat.of().formatHex(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%016x", Long.reverseBytes(value));
    }
}
