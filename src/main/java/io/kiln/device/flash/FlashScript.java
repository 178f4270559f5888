// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.WholeFiles;
import io.kiln.device.flash.FlashImage.Segment;
import io.kiln.toolchain.board.Flashing.ChipId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The steps of flashing as commands of OpenOCD: connect, compare, erase, write in pieces to show progress, verify, run.
 * The files that the commands use are written into a working folder.
 */
final class FlashScript {
    /** Bytes of one write command. */
    private static final int PIECE = 16 << 10;

    /** The file of Kiln's own procedures; the set-up commands use them already. */
    static final String PROCEDURES = "kiln.tcl";

    private final Path folder;
    private final FlashImage image;

    FlashScript(Path folder, FlashImage image) {
        this.folder = folder;
        this.image = image;
    }

    /**
     * Writes the files and returns the arguments after the set-up.
     *
     * @param chipId the expected chip id
     * @param preverify whether an image that the device already holds is kept
     */
    List<String> arguments(Optional<ChipId> chipId, boolean preverify) {
        WholeFiles.write(folder.resolve(PROCEDURES), procedures());
        List<String> files = new ArrayList<>();
        for (int i = 0; i < image.segments().size(); i++) {
            Segment segment = image.segments().get(i);
            String file = "segment" + i + ".bin";
            WholeFiles.write(folder.resolve(file), segment.content().toArray());
            files.add(file);
            files.add(Tcl.address(segment.address()));
        }
        WholeFiles.write(folder.resolve("flash.tcl"), programming(files, preverify));
        List<String> arguments = new ArrayList<>();
        FlashTarget.command(arguments, "kiln_connect");
        chipId.ifPresent(id -> FlashTarget.command(
                arguments,
                Tcl.command(
                        "kiln_must_be_chip",
                        Tcl.address(id.address()),
                        Tcl.address(id.mask()),
                        Tcl.address(id.value()))));
        FlashTarget.command(arguments, Tcl.command("source", "flash.tcl"));
        FlashTarget.command(arguments, "kiln_say verifying");
        for (int i = 0; i < files.size(); i += 2) {
            FlashTarget.command(arguments, Tcl.command("verify_image", files.get(i), files.get(i + 1), "bin"));
        }
        FlashTarget.command(arguments, "kiln_no_semihosting");
        FlashTarget.command(arguments, "reset run");
        FlashTarget.command(arguments, "kiln_say running");
        FlashTarget.command(arguments, "shutdown");
        return arguments;
    }

    private String programming(List<String> files, boolean preverify) {
        StringBuilder script = new StringBuilder();
        for (Segment segment : image.segments()) {
            line(
                    script,
                    "kiln_must_be_flash",
                    segment.address(),
                    segment.content().size());
        }
        script.append("set unchanged 0\n");
        if (preverify) {
            script.append("kiln_say comparing\n");
            script.append("set unchanged [kiln_holds ").append(Tcl.list(files)).append("]\n");
            script.append("kiln_say compared\n");
        }
        script.append("if {$unchanged} {\n    kiln_say unchanged\n} else {\n");
        for (Segment segment : image.segments()) {
            line(
                    script,
                    "    kiln_must_be_open",
                    segment.address(),
                    segment.content().size());
        }
        script.append("    kiln_say begun\n");
        for (Segment segment : image.segments()) {
            line(script, "    kiln_erase", segment.address(), segment.content().size());
        }
        pieces(script);
        return script.append("}\n").toString();
    }

    private void pieces(StringBuilder script) {
        long written = 0;
        for (int s = 0; s < image.segments().size(); s++) {
            Segment segment = image.segments().get(s);
            byte[] content = segment.content().toArray();
            for (int from = 0; from < content.length; from += PIECE) {
                byte[] piece = Arrays.copyOfRange(content, from, Math.min(content.length, from + PIECE));
                String file = "piece" + s + "_" + from / PIECE + ".bin";
                WholeFiles.write(folder.resolve(file), piece);
                written += piece.length;
                script.append("    ")
                        .append(Tcl.command(
                                "kiln_write", file, Tcl.address(segment.address() + from), String.valueOf(written)))
                        .append('\n');
            }
        }
    }

    private static void line(StringBuilder script, String procedure, long address, int length) {
        script.append(procedure)
                .append(' ')
                .append(Tcl.address(address))
                .append(' ')
                .append(length)
                .append('\n');
    }

    static String procedures() {
        try (InputStream in = FlashScript.class.getResourceAsStream("/openocd/" + PROCEDURES)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
