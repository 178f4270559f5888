// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.flow.BuildSpec.Layout;
import io.kiln.flow.BuildSpec.ModelSource;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Compiles the models to C and writes them as a Model Library Format archive, packed and unpacked. */
final class GenerateStep {
    private static final int SEVERAL_MODELS = 7;

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;

    GenerateStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
    }

    /** The models, compiled now or before. */
    static LibraryStore store(Layout layout) {
        return new LibraryStore(layout.reports().resolve("state").resolve("library.json"), layout.generated());
    }

    /** The archive as this step writes it; linking puts a copy beside the image. */
    static Path archive(Layout layout) {
        return layout.generated().resolve("model-mlf.tar");
    }

    /** Compiles what changed. */
    void run() {
        BuildSpec spec = build.spec();
        Fingerprint now = Fingerprint.empty()
                .setting("target", build.board().target())
                .setting("optimize", spec.optimize())
                .setting("io", spec.io())
                .setting("mlfVersion", mlfVersion())
                .setting("timestamp", spec.timestamp());
        spec.pipeline().addTo(now);
        for (ModelSource model : spec.models()) {
            now.setting("inputShapes of " + model.name(), model.inputShapes());
            now.setting("name of " + model.file().getFileName(), model.name());
            now.file(model.file().getFileName() + " (" + model.name() + ")", model.file());
            Frontends.parameters(model.file())
                    .ifPresent(params -> now.file(params.getFileName() + " (" + model.name() + ")", params));
        }
        new Steps(log, layout).run("generate", "Generating C", now, this::generate);
    }

    private int mlfVersion() {
        return build.spec().models().size() > 1 ? SEVERAL_MODELS : build.spec().mlfVersion();
    }

    private Collection<Path> generate() {
        BuildSpec spec = build.spec();
        ModelMetadata.Io io = ModelMetadata.Io.valueOf(spec.io().toUpperCase(Locale.ROOT));
        Optimize optimize = Optimize.of(spec.optimize());
        List<CompiledModel> compiled = new ArrayList<>();
        for (ModelSource model : spec.models()) {
            compiled.add(ModelCompiler.compile(new CompileRequest(
                    model.file(),
                    model.name(),
                    build.board().target(),
                    io,
                    optimize,
                    spec.pipeline().options(),
                    model.shapes())));
        }
        List<ModelLibrary> libraries =
                compiled.stream().map(CompiledModel::library).toList();
        Bytes archive = ModelLibraryFormat.write(
                libraries, Options.of(mlfVersion(), spec.timestamp(), PluginVersion.released()));
        FreshFolder.clear(layout.generated());
        List<Path> written = ArchiveTree.unpack(archive, layout.generated());
        WholeFiles.write(archive(layout), archive.toArray());
        written.add(archive(layout));
        written.addAll(dumpIr(compiled));
        store(layout).write(libraries);
        libraries.forEach(library -> log.info(summary(library.metadata())));
        return written;
    }

    /** Several models have a folder each. What an earlier run wrote is gone, whether or not this one writes. */
    private List<Path> dumpIr(List<CompiledModel> models) {
        FreshFolder.clear(layout.ir());
        List<Path> written = new ArrayList<>();
        if (build.spec().pipeline().dumpIr()) {
            for (CompiledModel model : models) {
                Path folder = models.size() == 1
                        ? layout.ir()
                        : layout.ir().resolve(model.imported().name());
                written.addAll(IrDump.write(model.stages(), folder));
            }
        }
        return written;
    }

    private static String summary(ModelMetadata model) {
        long macs = model.operators().stream()
                .mapToLong(ModelMetadata.OperatorInfo::macs)
                .sum();
        return String.format(
                Locale.ROOT,
                "Model %s: %d operators, %,d MACs, %,d bytes of constants, %,d of workspace (lower bound %,d)",
                model.name(),
                model.operators().size(),
                macs,
                model.constantBytes(),
                model.workspaceBytes(),
                model.plan().lowerBound());
    }
}
