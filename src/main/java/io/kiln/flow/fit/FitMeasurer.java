// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Digests;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.codegen.c.UsedIntrinsics;
import io.kiln.compile.CompiledModel;
import io.kiln.device.emulator.Emulator;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareLinker.Roomy;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.app.Application;
import io.kiln.firmware.image.Measurement;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.fit.FitRun.FitImages;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.verify.ImageProfile;
import io.kiln.tir.PrimFunc;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes images of a build in different ways beside its own outputs, and measures their memory and, in an emulator, their cycles. An image may be larger
 * than its board. What was measured once is not measured again.
 */
final class FitMeasurer implements FitImages {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Options of a target that say which core it is. */
    private static final List<String> CORE = List.of("mcpu", "march");

    private final ResolvedBuild build;
    private final Path folder;
    private final Map<FitWay, FitImage> images = new LinkedHashMap<>();
    private final Map<String, Optional<FitImage>> byContent = new HashMap<>();

    /**
     * @param folder for the files of images, which may be removed afterwards
     */
    FitMeasurer(ResolvedBuild build, Path folder) {
        this.build = build;
        this.folder = folder;
    }

    @Override
    public Map<FitWay, FitImage> all() {
        return Collections.unmodifiableMap(images);
    }

    @Override
    public Optional<FitImage> measured(FitWay way) {
        if (images.containsKey(way)) {
            return Optional.of(images.get(way));
        }
        Optional<FitImage> image = made(way);
        image.ifPresent(known -> images.put(way, known));
        return image;
    }

    private Optional<FitImage> made(FitWay way) {
        ResolvedBuild other = way.applied(build);
        GenerateStep.Libraries libraries = new GenerateStep(Log.QUIET, other).libraries();
        String content = content(way, libraries.linked());
        Optional<FitImage> known = byContent.get(content);
        if (known == null) {
            known = built(other, libraries);
            byContent.put(content, known);
        }
        return known;
    }

    /** Different goals often give the same code. */
    private static String content(FitWay way, List<ModelLibrary> libraries) {
        StringBuilder all = new StringBuilder(way.code().text());
        libraries.stream()
                .flatMap(library -> library.artifacts().artifacts().stream())
                .forEach(artifact -> all.append('\n')
                        .append(artifact.fileName())
                        .append(' ')
                        .append(Digests.sha256(artifact.content().toArray())));
        return all.toString();
    }

    private Optional<FitImage> built(ResolvedBuild other, GenerateStep.Libraries libraries) {
        FirmwareSteps steps = new FirmwareSteps(Log.QUIET, other);
        FirmwareRequest request = steps.request(libraries.linked(), FirmwareRequest.Folders.in(folder));
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        Roomy image = FirmwareLinker.roomy(objects, folder).orElseGet(() -> {
            // The message says why.
            FirmwareLinker.link(objects, folder, "measured", Log.QUIET);
            throw new IllegalStateException("it links only sometimes");
        });
        List<ModelMetadata> models =
                libraries.linked().stream().map(ModelLibrary::metadata).toList();
        Set<String> kernels = new TreeSet<>();
        libraries
                .compiled()
                .forEach(model ->
                        UsedIntrinsics.kernels(model.code().functions()).forEach(kernel -> kernels.add(kernel.name())));
        return runsOn(other, image.measurement())
                .map(runsOn -> new FitImage(
                        image.measurement(),
                        profile(other, runsOn, request, objects, image.elf(), models),
                        parts(libraries.compiled(), ElfFile.read(image.elf())),
                        kernels,
                        needs(models)));
    }

    /** What runs an image: for one that does not fit in its board the largest emulated board with the same core, if its own would run it otherwise. */
    private static Optional<Board> runsOn(ResolvedBuild build, Measurement measured) {
        Board usual = build.requireRunsOn();
        if (build.hasStandIn() || measured.fits()) {
            return Optional.of(usual);
        }
        Boards boards = build.spec().boards();
        return boards.ids().stream()
                .map(boards::find)
                .filter(board -> board.emulation() instanceof Emulation.Qemu)
                .filter(board -> CORE.stream()
                        .allMatch(option -> board.targetOption(option).equals(usual.targetOption(option))))
                .filter(board -> bytes(board) > bytes(usual))
                .max(Comparator.comparingLong(FitMeasurer::bytes));
    }

    private static long bytes(Board board) {
        return board.memories().stream().mapToLong(Board.Memory::size).sum();
    }

    private ImageProfile profile(
            ResolvedBuild other,
            Board runsOn,
            FirmwareRequest request,
            CompiledObjects objects,
            Path boardImage,
            List<ModelMetadata> models) {
        Path runFolder = folder.resolve("run");
        FirmwareRequest first = request.on(runsOn, runFolder);
        FirmwareRequest run = first.with(first.content().replacingMain(Application.CONSOLE));
        CompiledObjects relinked =
                FirmwareCompiler.compileStandIn(FirmwareAssembler.assemble(run, Log.QUIET), objects, Log.QUIET);
        Path elf = FirmwareLinker.link(relinked, runFolder, "image", Log.QUIET).elf();
        Emulator emulator = new Emulator(
                runsOn,
                LIMIT,
                Optional.of(folder.resolve("profile.log")),
                other.spec().semihosting());
        return ImageProfile.brief(other, emulator, elf, boardImage, models);
    }

    /** What operators have in the image: function, tables and micro-kernels with their bytes, by the operator's name. */
    private static Map<String, SortedMap<String, Long>> parts(List<CompiledModel> models, ElfFile elf) {
        Map<String, Long> bytes = new HashMap<>();
        elf.symbols().stream()
                .filter(symbol -> symbol.size() > 0)
                .forEach(symbol -> bytes.put(symbol.name(), symbol.size()));
        Map<String, SortedMap<String, Long>> parts = new LinkedHashMap<>();
        for (CompiledModel model : models) {
            for (PrimFunc function : model.code().functions()) {
                Set<String> names = new HashSet<>(Set.of(function.name()));
                function.constants().forEach(table -> names.add(table.symbol()));
                UsedIntrinsics.kernels(List.of(function)).forEach(kernel -> names.add(kernel.name()));
                SortedMap<String, Long> own = new TreeMap<>();
                names.stream().filter(bytes::containsKey).forEach(name -> own.put(name, bytes.get(name)));
                parts.put(function.name(), own);
            }
        }
        return parts;
    }

    /** Bytes of the workspace that are alive while an operator runs, by its name. */
    private static Map<String, Long> needs(List<ModelMetadata> models) {
        Map<String, Long> needs = new HashMap<>();
        for (ModelMetadata model : models) {
            for (int i = 0; i < model.operators().size(); i++) {
                int step = i;
                OperatorInfo operator = model.operators().get(i);
                long alive = model.plan().buffers().stream()
                        .filter(buffer -> buffer.firstUse() <= step && step <= buffer.lastUse())
                        .mapToLong(ModelMetadata.PlannedBuffer::bytes)
                        .sum();
                needs.put(operator.name(), alive);
            }
        }
        return needs;
    }
}
