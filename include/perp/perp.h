/* perp/perp.h - all of perp: from a scene file to bodies that move. */
#ifndef PERP_PERP_H
#define PERP_PERP_H

#include <perp/base.h>
#include <perp/linalg.h>
#include <perp/linalg_sparse.h>
#include <perp/yaml.h>
#include <perp/scene.h>
#include <perp/geometry_hull.h>
#include <perp/scene_yaml.h>
#include <perp/model.h>
#include <perp/geometry.h>
#include <perp/contact.h>
#include <perp/problem.h>
#include <perp/problem_yaml.h>
#include <perp/solver.h>
#include <perp/step.h>
#include <perp/sim.h>
#include <perp/trace.h>
#include <perp/log.h>
#include <perp/analysis.h>
#include <perp/plan.h>
#include <perp/compare.h>
#include <perp/report.h>

#endif
