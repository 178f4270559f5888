// SPDX-License-Identifier: Apache-2.0
/** What memories, their caches and their buses cost a core beside the time of its instructions. */
package io.kiln.cycles.memory;
