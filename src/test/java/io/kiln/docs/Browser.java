// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Debian's Chromium without a window, a network or a user's own settings. */
final class Browser {
    private Browser() {}

    /** The document of a page after its scripts have run. */
    static String document(URI page) throws IOException {
        return run(page, List.of("--virtual-time-budget=5000", "--dump-dom")).output();
    }

    /** What the page looks like in a window of this size, in pixels. */
    static void picture(URI page, int width, int height, Path file) throws IOException {
        run(
                page,
                List.of(
                        "--hide-scrollbars",
                        "--virtual-time-budget=5000",
                        "--window-size=" + width + "," + height,
                        "--screenshot=" + file.toAbsolutePath()));
    }

    private static ProcessResult run(URI page, List<String> what) throws IOException {
        Path user = Files.createTempDirectory("chromium");
        List<String> arguments = new ArrayList<>(List.of(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--user-data-dir=" + user));
        arguments.addAll(what);
        arguments.add(page.toString());
        ProcessResult result = ProcessRunner.run(Command.of("chromium", arguments)
                .with("HOME", user.toString())
                .owning(user)
                .within(Duration.ofMinutes(2)));
        assertThat(result.exitCode()).as(result.message()).isZero();
        return result;
    }
}
