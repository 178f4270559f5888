// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.commons.exec.CommandLine;
import org.apache.commons.exec.launcher.CommandLauncherFactory;

/**
 * Has a process die with this JVM, however the JVM dies. A shell waits for a line on a pipe that only the JVM holds open: the line comes
 * when the process has ended, and the end of the pipe when the JVM has. The shell then kills the process with its descendants, and
 * removes the process's temporary folder. Where there is no POSIX shell there is no guardian; shutdown hooks do what they can.
 */
final class Guardian {
    /** $1: the process; $2: its temporary folder, or nothing. Signals of a terminal are meant for the JVM, and may be its end. */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            read -r line && exit 0
            end() {
              for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do end "$child"; done
              kill -9 "$1" 2>/dev/null
            }
            end "$1"
            if [ -n "$2" ]; then rm -rf -- "$2"; fi
            """;

    private Guardian() {}

    /** Guards a process that was just started. */
    static void watch(Process process, Optional<Path> temporary) {
        Executables.find("sh").ifPresent(shell -> {
            CommandLine line = new CommandLine(shell.toString());
            line.addArgument("-c", false);
            line.addArgument(SCRIPT, false);
            line.addArgument("kiln-guardian", false);
            line.addArgument(Long.toString(process.pid()), false);
            line.addArgument(temporary.map(Path::toString).orElse(""), false);
            try {
                Process guardian = CommandLauncherFactory.createVMLauncher().exec(line, System.getenv());
                CompletableFuture<Void> unused = process.onExit().thenRun(() -> release(guardian));
            } catch (IOException e) {
                // No more processes can be started: the one that runs is worth more than its guardian.
                return;
            }
        });
    }

    private static void release(Process guardian) {
        try (OutputStream pipe = guardian.getOutputStream()) {
            pipe.write("done\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // It is gone already.
            return;
        }
    }
}
