// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.node.NullNode;
import io.kiln.device.projectapi.ApiServer.ProjectHandler;
import io.kiln.device.projectapi.ServerInfo.ProjectOption;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import io.kiln.device.rpc.client.TransportTimeouts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Gives back what is written, at most five bytes at a time. */
final class EchoHandler implements ProjectHandler {
    private final List<String> calls = new ArrayList<>();
    private byte[] held = new byte[0];
    private boolean isOpen;

    /** What was called, in order. */
    List<String> calls() {
        return calls;
    }

    @Override
    public ServerInfo info(String tvmVersion) {
        ProjectOption board = new ProjectOption(
                "board",
                List.of("b", "a"),
                NullNode.getInstance(),
                ProjectOption.Type.STR,
                Set.of("build"),
                Set.of(),
                "Which.");
        return new ServerInfo("echo", true, Optional.empty(), List.of(board));
    }

    @Override
    public void generate(Path archive, Path runtime, Path project, OptionValues options) {
        calls.add(archive + " " + runtime + " " + project + " " + options.node());
    }

    @Override
    public void build(OptionValues options) {
        options.check(info("").options(), "build");
        calls.add("build");
    }

    @Override
    public void flash(OptionValues options) {
        throw new IllegalStateException("a bug");
    }

    @Override
    public TransportTimeouts openTransport(OptionValues options) {
        isOpen = true;
        return new TransportTimeouts(Duration.ofMillis(500), Duration.ZERO, Duration.ofSeconds(7));
    }

    @Override
    public void closeTransport() {
        isOpen = false;
    }

    @Override
    public byte[] read(int most, Duration time) {
        requireOpen();
        byte[] bytes = Arrays.copyOf(held, Math.min(most, held.length));
        held = Arrays.copyOfRange(held, bytes.length, held.length);
        return bytes;
    }

    @Override
    public int write(byte[] bytes, int from, Duration time) {
        requireOpen();
        int count = Math.min(5, bytes.length - from);
        int before = held.length;
        held = Arrays.copyOf(held, before + count);
        System.arraycopy(bytes, from, held, before, count);
        return time.isZero() && before > 0 ? 0 : count;
    }

    private void requireOpen() {
        if (!isOpen) {
            throw MethodFailure.transportClosed("it is closed");
        }
    }

    @Override
    public void close() {
        calls.add("closed");
    }
}
