// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner.Range;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads memory of one device in one run of OpenOCD.
 *
 * @param openOcd the program
 * @param limit time after which it is killed
 * @param log gets the whole output
 */
record MemoryReader(OpenOcd openOcd, Duration limit, Path log) {
    /** The content of each range; the device runs afterwards. */
    List<Bytes> read(FlashTarget target, List<Range> ranges) {
        return WorkFolder.use(folder -> {
            OpenOcdOutput output = new OpenOcdOutput(FlashProgress.QUIET);
            Command command = Command.of(openOcd.executable().toString(), arguments(target, ranges, folder))
                    .in(folder)
                    .owning(folder)
                    .within(limit)
                    .loggingTo(log);
            ProcessResult result = ProcessRunner.run(command, output);
            List<Bytes> contents = contents(ranges, folder);
            if (result.timedOut() || result.exitCode() != 0 || contents.size() < ranges.size()) {
                String where = target.probe().text();
                throw FailureRules.classify(output.lines(), false)
                        .orElseGet(() -> FlashFailure.before(
                                result.timedOut() ? Kind.TIME_OUT : Kind.OTHER,
                                output.lastError()
                                        .orElse("it read " + contents.size() + " of " + ranges.size() + " ranges")))
                        .exception(where);
            }
            return contents;
        });
    }

    private static List<String> arguments(FlashTarget target, List<Range> ranges, Path folder) {
        WholeFiles.write(folder.resolve(FlashScript.PROCEDURES), FlashScript.procedures());
        List<String> arguments = new ArrayList<>(target.arguments(FlashScript.PROCEDURES));
        FlashTarget.command(arguments, "kiln_connect");
        for (int i = 0; i < ranges.size(); i++) {
            Range range = ranges.get(i);
            FlashTarget.command(
                    arguments,
                    Tcl.command("dump_image", file(i), Tcl.address(range.address()), String.valueOf(range.bytes())));
        }
        FlashTarget.command(arguments, "kiln_no_semihosting");
        FlashTarget.command(arguments, "reset run");
        FlashTarget.command(arguments, "shutdown");
        return arguments;
    }

    private static String file(int range) {
        return "range" + range + ".bin";
    }

    /** The content of the ranges that were read whole. */
    private static List<Bytes> contents(List<Range> ranges, Path folder) throws IOException {
        List<Bytes> contents = new ArrayList<>();
        for (int i = 0; i < ranges.size(); i++) {
            Path file = folder.resolve(file(i));
            if (Files.isRegularFile(file) && Files.size(file) == ranges.get(i).bytes()) {
                contents.add(Bytes.wrap(Files.readAllBytes(file)));
            }
        }
        return contents;
    }
}
