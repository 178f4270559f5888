// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.device.projectapi.ApiServer;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * The program that the launcher of a template or a project starts: {@code [<file>] --read-fd <n> --write-fd <n> [--debug]}, in that folder. It
 * serves until the requests end.
 */
public final class ProjectApiServer {
    private static final int USAGE = 2;
    private static final String READ = "--read-fd";
    private static final String WRITE = "--write-fd";

    private ProjectApiServer() {}

    /** Serves; standard error is the log. */
    public static void main(String[] words) {
        List<String> arguments = Arrays.asList(words);
        OptionalInt read = descriptor(arguments, READ);
        OptionalInt write = descriptor(arguments, WRITE);
        boolean isDebug = arguments.contains("--debug");
        LineLog log = new LineLog(System.err, isDebug, isDebug);
        if (read.isEmpty() || write.isEmpty()) {
            log.warn("usage: " + READ + " <n> " + WRITE + " <n> [--debug]");
            System.exit(USAGE);
        }
        // What a library prints must not get among the replies.
        System.setOut(System.err);
        try (InputStream requests = input(read.getAsInt());
                OutputStream replies = output(write.getAsInt());
                KilnProject project = new KilnProject(Path.of("").toAbsolutePath(), log)) {
            ApiServer.serve(requests, replies, project, log);
        } catch (IOException e) {
            log.warn("cannot open the pipes: " + e.getMessage());
            System.exit(USAGE);
        }
        System.exit(0);
    }

    private static OptionalInt descriptor(List<String> arguments, String name) {
        int at = arguments.indexOf(name);
        boolean isThere =
                at >= 0 && at + 1 < arguments.size() && arguments.get(at + 1).matches("[0-9]{1,9}");
        return isThere ? OptionalInt.of(Integer.parseInt(arguments.get(at + 1))) : OptionalInt.empty();
    }

    private static InputStream input(int descriptor) throws IOException {
        return descriptor == 0 ? new FileInputStream(FileDescriptor.in) : new FileInputStream(file(descriptor));
    }

    private static OutputStream output(int descriptor) throws IOException {
        return descriptor == 1 ? new FileOutputStream(FileDescriptor.out) : new FileOutputStream(file(descriptor));
    }

    /** The name of an inherited descriptor: Linux's, or else that of other systems. */
    private static String file(int descriptor) {
        Path linux = Path.of("/proc/self/fd");
        return (Files.isDirectory(linux) ? linux : Path.of("/dev/fd"))
                .resolve(Integer.toString(descriptor))
                .toString();
    }
}
