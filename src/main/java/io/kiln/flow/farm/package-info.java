// SPDX-License-Identifier: Apache-2.0
/** Builds that send their images to a farm in place of running them here. */
package io.kiln.flow.farm;
