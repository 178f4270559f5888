// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.Artifact;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.ResourceTree;
import io.kiln.firmware.app.Application;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuConfiguration;
import io.kiln.npu.NpuConfiguration.Product;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.BoardNpu;
import io.kiln.toolchain.compiler.SourceKind;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The files for models that run on a board's Ethos-U: the hooks around Arm's driver, which the project brings, or a model of the NPU in its place.
 * Images without such models have none of them.
 */
final class NpuSources {
    private static final String FOLDER = "npu";
    private static final String HOOKS = "kiln_npu.c";
    private static final String SETTINGS = "kiln_npu.h";
    private static final String DRIVER = "ethosu_driver.h";

    /** A function that firmware with hooks of its own defines. */
    private static final String OWN_HOOKS = "TVMDeviceEthosUActivate";

    private NpuSources() {}

    /**
     * The files by their path in the C project; none if no model needs them, or if the project has hooks of its own.
     *
     * @param user the project's own code
     * @throws KilnException if a model was compiled for another NPU, or there is no driver
     */
    static SortedMap<String, Bytes> files(FirmwareRequest request, SortedMap<String, Bytes> user) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        List<Artifact> streams = request.models().stream()
                .flatMap(model -> model.artifacts().artifacts().stream())
                .filter(artifact -> artifact.loader().equals(BoardNpu.CODEGEN))
                .toList();
        Board board = request.board();
        boolean hasHooks =
                user.values().stream().anyMatch(content -> content.text().contains(OWN_HOOKS));
        if (streams.isEmpty() || board.npu().isEmpty() || hasHooks) {
            return files;
        }
        BoardNpu npu = board.npu().get();
        Settings settings = new Settings(
                board,
                npu,
                configuration(board, npu, streams),
                "../" + (npu.isModel() ? FOLDER + "/" + DRIVER : driver(board, npu, user)),
                request.application() != Application.RPC);
        if (npu.isModel()) {
            ResourceTree.read(FOLDER).forEach((name, content) -> files.put(FOLDER + "/" + name, content));
        }
        files.put(ProjectFiles.BOARD + "/" + HOOKS, ResourceTree.read("ethosu").get(HOOKS));
        files.put(ProjectFiles.BOARD + "/" + SETTINGS, Bytes.ofText(settings.text()));
        return files;
    }

    /**
     * The request for an image in which a model of the NPU comes before the driver of the project's, whose objects are linked, too: the first
     * definition counts.
     */
    static FirmwareRequest overDriver(FirmwareRequest request, SortedMap<String, Bytes> user) {
        boolean isModel = request.board().npu().filter(BoardNpu::isModel).isPresent();
        return isModel && user.keySet().stream().anyMatch(name -> name.endsWith("/" + DRIVER))
                ? request.linkedWith(List.of("-Wl,-z,muldefs"))
                : request;
    }

    /** How the files are compiled: the hooks include the header of a driver that is the user's. */
    static SourceKind kind(Board board) {
        return board.npu().filter(npu -> !npu.isModel()).isPresent() ? SourceKind.USER : SourceKind.OWN;
    }

    /** The header of the project's driver. */
    private static String driver(Board board, BoardNpu npu, SortedMap<String, Bytes> user) {
        return user.keySet().stream()
                .filter(name -> name.endsWith("/" + DRIVER))
                .min(Comparator.comparingInt(String::length).thenComparing(name -> name))
                .orElseThrow(() -> Failure.CODE.exception(
                        "a model runs on the board's " + npu.configuration() + ", and there is no driver of it",
                        "board " + board.id(),
                        "Arm's core driver for Ethos-U, whose " + DRIVER + " lies in src/main/c or in a library of C",
                        "Add it, or define " + OWN_HOOKS + " and the other hooks yourself"));
    }

    /** The configuration that all streams are for. On hardware it is the board's: archives may come from other boards. */
    private static NpuConfiguration configuration(Board board, BoardNpu npu, List<Artifact> streams) {
        Optional<NpuConfiguration> first = Optional.empty();
        for (Artifact stream : streams) {
            NpuConfiguration own = DriverPayload.read(
                            stream.content(),
                            (what, expected) -> Failure.ARCHIVE.exception(what, stream.fileName(), expected))
                    .configuration();
            String expected = npu.isModel() ? first.orElse(own).name() : npu.configuration();
            if (!own.name().equals(expected)) {
                throw Failure.BOARD.exception(
                        "the model was compiled for an " + own.name() + ", and the NPU is an " + expected,
                        stream.fileName(),
                        "models for " + expected,
                        "Run Vela with --accelerator-config " + expected);
            }
            if (npu.isModel() && own.product() == Product.U85) {
                throw new KilnException(noModel(board, own));
            }
            first = Optional.of(first.orElse(own));
        }
        return first.orElseThrow();
    }

    private static Problem noModel(Board board, NpuConfiguration own) {
        return Failure.BOARD.problem(
                "there is no model of an " + own.name(),
                "board " + board.id(),
                "a board that has one; only that can show what it computes",
                "Choose one with kiln.board");
    }

    /**
     * What the hooks are compiled with.
     *
     * @param driver the path of the driver's header from the hooks
     * @param tells whether the model may write to the console
     */
    private record Settings(Board board, BoardNpu npu, NpuConfiguration configuration, String driver, boolean tells) {
        String text() {
            StringBuilder text = new StringBuilder(
                            "/* SPDX-License-Identifier: Apache-2.0\n *\n * The NPU of the board ")
                    .append(board.id())
                    .append(". Written by Kiln.\n */\n#ifndef KILN_NPU_H\n#define KILN_NPU_H\n");
            define(text, "DRIVER", '"' + driver + '"');
            define(text, "BASE", String.format(Locale.ROOT, "0x%08xu", npu.base()));
            define(text, "SECURE", npu.isSecure() ? "1" : "0");
            if (npu.isModel()) {
                define(text, "MODEL", String.format(Locale.ROOT, "0x%08xu", configuration.word()));
                if (tells) {
                    define(text, "TELLS", "1");
                }
            } else {
                npu.irq().ifPresent(irq -> {
                    define(text, "IRQ", irq + "u");
                    define(text, "HANDLER", handler(irq));
                });
            }
            return text.append("#endif\n").toString();
        }

        private String handler(int irq) {
            return InterruptTable.handler(board, irq)
                    .orElseThrow(() -> Failure.BOARD.exception(
                            "interrupt " + irq + " of the NPU has no handler",
                            "board " + board.id(),
                            "its name in " + InterruptTable.LIST,
                            "Correct npu.irq, or the list"));
        }

        private static void define(StringBuilder text, String name, String value) {
            text.append("#define KILN_NPU_")
                    .append(name)
                    .append(' ')
                    .append(value)
                    .append('\n');
        }
    }
}
