// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.schedule.space.Configuration;
import io.kiln.tuning.task.LayerTask;

/**
 * A configuration to measure.
 *
 * @param task the layer
 * @param configuration one of the layer's space
 */
record Candidate(LayerTask task, Configuration configuration) {}
