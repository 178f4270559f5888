// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The real OpenOCD on a virtual probe, for tests. Where it is missing a test is skipped with the reason; in CI it fails. */
final class ProbedByOpenOcd {
    private ProbedByOpenOcd() {}

    /** Runs commands, each an argument of -c, and ends by itself or by the time limit. */
    static ProcessResult run(VirtualProbe probe, Path folder, Duration limit, String... commands) {
        TestPrograms.need("openocd");
        Path interfaceConfig = folder.resolve("interface-" + probe.port() + ".cfg");
        Path after = folder.resolve("after.cfg");
        try {
            Files.writeString(interfaceConfig, probe.interfaceConfig());
            Files.writeString(after, VirtualProbe.afterTargetConfig());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<String> line = new ArrayList<>(List.of(
                "openocd", "-f", interfaceConfig.toString(), "-f", "target/stm32f4x.cfg", "-f", after.toString()));
        for (String server : List.of("gdb", "telnet", "tcl")) {
            line.addAll(List.of("-c", server + "_port disabled"));
        }
        for (String command : commands) {
            line.addAll(List.of("-c", command));
        }
        return ProcessRunner.run(Command.ofLine(line).within(limit));
    }

    /** Erases what is needed, programs, verifies, resets. */
    static ProcessResult flash(VirtualProbe probe, Path folder, Path image) {
        return run(
                probe,
                folder,
                Duration.ofSeconds(60),
                "init",
                "reset init",
                "flash write_image erase " + image + " 0x08000000",
                "verify_image " + image + " 0x08000000",
                "reset run",
                "shutdown");
    }
}
