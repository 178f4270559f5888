// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.compile.CompiledModel;
import io.kiln.compile.IrDump;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.state.FreshFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Views of compiled models for people: the graphs of the build's page, and dumps of the IR on request. */
final class ModelViews {
    private ModelViews() {}

    /**
     * Writes the views; dumps of an earlier run are always deleted.
     *
     * @param models those of the request that were compiled, in its order
     * @return the files written
     */
    static List<Path> write(BuildSpec spec, List<CompiledModel> models) {
        List<Path> written = dumps(spec, models);
        List<Path> files = spec.models().stream()
                .map(ModelSource::file)
                .filter(file -> !ModelArchives.accepts(file))
                .toList();
        for (int i = 0; i < models.size(); i++) {
            String file = String.valueOf(files.get(i).getFileName());
            written.add(BuildPage.keepGraph(spec.layout(), models.get(i), file));
        }
        return written;
    }

    /** Writes the dumps of the IR; with several models, each has its own folder. */
    private static List<Path> dumps(BuildSpec spec, List<CompiledModel> models) {
        Path ir = spec.layout().ir();
        FreshFolder.clear(ir);
        List<Path> written = new ArrayList<>();
        if (spec.compiler().dumpIr()) {
            for (CompiledModel model : models) {
                Path folder =
                        models.size() == 1 ? ir : ir.resolve(model.imported().name());
                written.addAll(IrDump.write(model, folder));
            }
        }
        return written;
    }
}
