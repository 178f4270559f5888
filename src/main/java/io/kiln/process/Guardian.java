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
 * Makes a process die with this JVM, however the JVM dies. A shell waits for a line on a pipe that only the JVM holds
 * open: the line is sent when the process has ended, and the pipe closes when the JVM has. In the second case the shell
 * kills the process with its descendants and deletes its temporary folder. Without a POSIX shell there are only
 * shutdown hooks.
 */
final class Guardian {
    /**
     * The guarding shell script. $1 is the process, $2 its temporary folder or nothing. It ignores signals from the terminal, which
     * are meant for the JVM.
     */
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

    /** Guards a process that has just started. */
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
                // No more processes can be started: running without a guardian is better than failing.
                return;
            }
        });
    }

    private static void release(Process guardian) {
        try (OutputStream pipe = guardian.getOutputStream()) {
            pipe.write("done\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // It has ended already.
            return;
        }
    }
}
