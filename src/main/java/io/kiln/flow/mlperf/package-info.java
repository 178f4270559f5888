// SPDX-License-Identifier: Apache-2.0
/** What a runner of MLPerf Tiny does with a device: inputs from a folder, runs, scores and the files of a submission. */
package io.kiln.flow.mlperf;
