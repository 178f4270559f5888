// SPDX-License-Identifier: Apache-2.0
/** A worker of a farm: takes jobs for what it offers, runs them by a {@link io.kiln.farm.worker.WorkerSetup.JobRunner}, and sends the results. */
package io.kiln.farm.worker;
