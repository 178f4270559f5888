// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.farm.client.FarmClient.JobTerms;
import io.kiln.farm.link.FarmAddress;

/**
 * A farm that runs images in place of this computer.
 *
 * @param address its broker
 * @param terms on which it gets jobs
 */
public record FarmUse(FarmAddress address, JobTerms terms) {}
