// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.BuildReport;
import io.kiln.report.FrontReport;
import io.kiln.report.ProfileReport;
import io.kiln.report.VerifyReport;
import io.kiln.report.graph.Graph;
import java.util.List;
import java.util.Optional;

/**
 * The reports of a build that its page shows.
 *
 * @param built its report
 * @param profile what was counted or measured of its image
 * @param proof its last verification
 * @param front images for other goals beside it; empty if nobody measured them
 * @param graphs of its models, as far as they were compiled here
 */
public record Overview(
        BuildReport built,
        Optional<ProfileReport> profile,
        Optional<VerifyReport> proof,
        Optional<FrontReport> front,
        List<Graph> graphs) {
    public Overview {
        graphs = List.copyOf(graphs);
    }
}
