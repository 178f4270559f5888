// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.desk.Labels;
import java.time.Duration;

/** The terms of tests to which it does not matter whose jobs they are. */
public final class FarmTerms {
    private FarmTerms() {}

    /** Usual terms. */
    public static JobTerms of(Duration patience) {
        return of(patience, "test", Labels.NONE);
    }

    /** Usual terms of a project that needs labels. */
    static JobTerms of(Duration patience, String project, Labels needs) {
        return new JobTerms(patience, project, JobTerms.usual("verify"), needs, "1.0.0");
    }
}
