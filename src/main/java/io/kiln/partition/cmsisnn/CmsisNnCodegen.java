// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Problem;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalUnit;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.List;
import java.util.Optional;

/**
 * Calls of Arm's CMSIS-NN, one C function for each composite, as TVM's code generator {@code cmsis-nn} makes them; unlike there, errors of
 * CMSIS-NN end the run.
 */
public final class CmsisNnCodegen implements ExternalCodegen {
    /** Name of the code generator in targets. */
    public static final String NAME = "cmsis-nn";

    /** The header of its functions, which every file that calls them includes. */
    public static final String HEADER = "arm_nnfunctions.h";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean runsOnCore() {
        return true;
    }

    @Override
    public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
        return CmsisNnPatterns.all(CmsisNnOptions.of(external, host));
    }

    @Override
    public Optional<Problem> check(CompositeTarget.External external, Target host) {
        return CmsisNnOptions.problem(external, host);
    }

    @Override
    public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
        return CompositeCode.of(function, CmsisNnOptions.of(external, host)).call();
    }

    @Override
    public List<Artifact> generate(ExternalUnit unit) {
        CmsisNnOptions options = CmsisNnOptions.of(unit.external(), unit.host());
        return List.of(
                Artifact.ofText(NAME, ArtifactKind.SOURCE, unit.file() + ".c", CmsisNnText.print(unit, options)));
    }
}
